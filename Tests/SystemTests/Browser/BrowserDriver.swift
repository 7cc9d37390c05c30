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
    /// The number of attachments, the title or the text that the editor shows.
    var count: Int?
    var title: String?
    var text: String?

    /// The name of a page that was checked.
    var name: String?
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

  /// Whether the tests run that need a browser.
  static let isRequested = environment["TIDINGS_BROWSER_TESTS"] == "1"

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

  /// The folder of the pictures, `.build/browser` of the project by default.
  var pictures: URL {
    let folder = Self.environment["TIDINGS_BROWSER_OUTPUT"].map { URL(filePath: $0) }
    return (folder ?? Project.root.appending(path: ".build/browser")).appending(path: name)
  }

  /// Creates a key and a sign-in link for it, runs a scenario to its end, and returns its steps.
  ///
  /// - Throws: `Unexpected` if a step fails.
  func run(_ scenario: String, javascript: Bool = true) async throws -> [Step] {
    let key = try await made("keys", "create", "--name", "newsroom", "--scope", "admin", "items:publish", "media:write")
    let link = try await made("console", "link", "--key", "newsroom")
    guard let code = link.split(separator: "#").last else { throw Unexpected(description: link) }
    guard let python = Self.environment["TIDINGS_BROWSER_PYTHON"] else {
      throw Unexpected(description: "TIDINGS_BROWSER_PYTHON is missing; run scripts/browser")
    }
    let program = Project.root.appending(path: "Tests/SystemTests/Browser/driver/drive.py")
    let settings = [
      "ADDRESS": server.client.url, "KEY": key, "LINK": "\(server.client.url)/console/link#\(code)",
      "PICTURES": pictures.path, "JAVASCRIPT": "\(javascript)",
    ]
    var environment = ChildProcess.environment(databaseURL: installation.url)
    for (name, value) in settings { environment["TIDINGS_BROWSER_\(name)"] = value }
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    let process = try ChildProcess([program.path, scenario], executable: python, environment: environment)
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
  static func with(
    _ name: String, language: String = "en", _ body: @Sendable (BrowserDriver) async throws -> Void
  ) async throws {
    try await withMediaFolder { media in
      try await Installation.with { installation in
        try await installation.serve(changes: settings(media: media, language: language)) { server in
          let driver = BrowserDriver(installation: installation, server: server, name: name)
          try? FileManager.default.removeItem(at: driver.pictures)
          try FileManager.default.createDirectory(at: driver.pictures, withIntermediateDirectories: true)
          try await body(driver)
        }
      }
    }
  }
}
