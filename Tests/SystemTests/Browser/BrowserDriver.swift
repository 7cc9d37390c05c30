import Foundation
import TestSupport

/// The program that drives Chromium through a scenario (`driver/drive.py`).
struct BrowserDriver {
  /// A step of the scenario, as the program reports it.
  struct Step: Decodable {
    /// The name of the step.
    var step: String
    /// The item of the step.
    var item: String?
    /// The number of attachments, of files or of pages, the title or the text that is shown.
    var count: Int?
    var title: String?
    var text: String?

    /// The name of a page that was checked, or of a key.
    var name: String?
    /// The names of the buttons of the editor.
    var actions: [String]?
    /// The faults of the page, as sentences.
    var faults: [String]?
    /// The size of the page's HTML, styles and scripts together, in bytes before compression.
    var bytes: Int?
    /// The names of the pictures of the page.
    var pictures: [String]?
    /// The controls of the page, in the order of the Tab key.
    var stops: [String]?
  }

  private static let environment = ProcessInfo.processInfo.environment

  /// Whether all tests with a browser run, as in `make browser`; otherwise only the short ones.
  static let runsAllTests = environment["TIDINGS_BROWSER_TESTS"] == "1"

  private static let folder = Project.root.appending(path: "Tests/SystemTests/Browser/driver")

  /// The folder of the environment of Python that `scripts/install-dependencies browser` makes.
  private static let pythonFolder = Project.root.appending(path: ".build/browser-python")
  private static let python = pythonFolder.appending(path: "bin/python").path

  /// Whether the short tests run: the browser is installed, and the packages are those of the list.
  static let isInstalled =
    ["/usr/bin/chromium", "/usr/bin/chromedriver", "/usr/bin/dbus-daemon", python].allSatisfy {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    && FileManager.default.contentsEqual(
      atPath: pythonFolder.appending(path: "requirements.txt").path,
      andPath: folder.appending(path: "requirements.txt").path)

  /// The settings of the server: where it keeps files, and that it may follow a feed on this machine.
  private static func settings(media: URL, language: String) -> [String: String] {
    [
      "TIDINGS_MEDIA_DIRECTORY": media.path, "TIDINGS_LANGUAGE": language,
      "TIDINGS_ALLOWED_NETWORKS": "127.0.0.0/8", "TIDINGS_ALLOW_PLAIN_HTTP": "true",
    ]
  }

  let installation: Installation
  let server: RunningServer
  /// The name of the folder of the pictures.
  let name: String
  /// The public URL of the server; nil for its own address.
  var publicURL: String?
  /// Further settings of the program, without the prefix of their names.
  var programSettings: [String: String] = [:]

  /// The folder of the pictures, `.build/browser` of the project by default.
  var pictures: URL {
    let folder = Self.environment["TIDINGS_BROWSER_OUTPUT"].map { URL(filePath: $0) }
    return (folder ?? Project.root.appending(path: ".build/browser")).appending(path: name)
  }

  /// Creates a key and a sign-in link for it, runs a scenario to its end, and returns its steps.
  ///
  /// - Throws: `Unexpected` if a step fails.
  func run(_ scenario: String, javascript: Bool = true) async throws -> [Step] {
    let address = publicURL ?? server.client.url
    let key = try await made("keys", "create", "--name", "newsroom", "--scope", "admin", "items:publish", "media:write")
    let link = try await made("console", "link", "--key", "newsroom")
    guard let code = link.split(separator: "#").last else { throw Unexpected(description: link) }
    let program = Self.folder.appending(path: "drive.py")
    let settings = [
      "ADDRESS": address, "API": server.client.url, "KEY": key, "LINK": "\(address)/console/link#\(code)",
      "PICTURES": pictures.path, "JAVASCRIPT": "\(javascript)",
    ].merging(programSettings) { $1 }
    var environment = ChildProcess.environment(databaseURL: installation.url)
    for (name, value) in settings { environment["TIDINGS_BROWSER_\(name)"] = value }
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    let process = try ChildProcess([program.path, scenario], executable: Self.python, environment: environment)
    let result = await process.result(timeout: .seconds(1200))
    guard result.status == 0 else {
      throw Unexpected(description: "status \(result.status) after:\n\(result.output)\n\(result.errors)")
    }
    return try result.output.split(separator: "\n").map { line in
      try JSONDecoder().decode(Step.self, from: Data(line.utf8))
    }
  }

  /// Runs a command that prints one line, and returns it.
  private func made(_ arguments: String...) async throws -> String {
    let process = try ChildProcess(arguments, environment: installation.environment())
    let result = await process.result()
    guard result.status == 0 else { throw Unexpected(description: result.errors) }
    return result.output.trimmingCharacters(in: .newlines)
  }

  /// Runs the body with a driver for a new server that keeps files.
  ///
  /// - Parameters:
  ///   - publicURL: The public URL of the server, which trusts a proxy on this machine then.
  ///   - settings: Further settings of the server.
  static func with(
    _ name: String, language: String = "en", publicURL: String? = nil, settings others: [String: String] = [:],
    _ body: @Sendable (BrowserDriver) async throws -> Void
  ) async throws {
    try await withMediaFolder { media in
      try await Installation.with { installation in
        var changes = settings(media: media, language: language).merging(others) { $1 }
        if let publicURL {
          changes["TIDINGS_PUBLIC_URL"] = publicURL
          changes["TIDINGS_TRUSTED_PROXIES"] = "127.0.0.1"
        }
        try await installation.serve(changes: changes) { server in
          let driver = BrowserDriver(installation: installation, server: server, name: name, publicURL: publicURL)
          try? FileManager.default.removeItem(at: driver.pictures)
          try FileManager.default.createDirectory(at: driver.pictures, withIntermediateDirectories: true)
          try await body(driver)
        }
      }
    }
  }
}
