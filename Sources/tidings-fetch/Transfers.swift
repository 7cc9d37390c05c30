import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient
import UnixSignals

struct Download: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Downloads a file in a separate process, which continues after this one has ended.",
    discussion: """
      An interrupted download is resumed if the server still has the same content. The file appears when it is complete. \
      With --wait the exit status is 0 for a complete file, and 20 if the download was given up or no data has been \
      transferred for the time of --timeout. A transfer that waits for more than a minute continues with the next command \
      or with the timer of schedule install.
      """)

  @ParentCommand var parent: TidingsFetch

  @Argument(help: "The http or https URL.")
  var url: HTTPLink

  @Option(help: "The path of the downloaded file.")
  var output: String

  @Option(help: "The required SHA-256 of the content: 64 hexadecimal digits.")
  var sha256: Digest?

  @Option(help: "The required media type, such as image/jpeg; without it, any type except HTML.")
  var type: String?

  @OptionGroup var conditions: TransferConditions
  @OptionGroup var following: FollowOptions
  var json: Bool { following.json }

  func run() async throws {
    let destination = absolute(output)
    guard !isFolder(destination) else { throw ValidationError("'\(output)' is a folder; --output must name a file") }
    var request = TransferRequest(download: url.url, to: destination)
    request.sha256 = sha256?.digits
    request.mediaType = type
    conditions.apply(to: &request)
    try await parent.begin(request, following)
  }
}

/// The options about the conditions that a transfer waits for.
struct TransferConditions: ParsableArguments {
  @Flag(help: "Waits for an unmetered network and for external power.")
  var discretionary = false

  @Flag(help: "Waits for an unmetered network.")
  var unmetered = false

  func apply(to request: inout TransferRequest) {
    request.isDiscretionary = discretionary
    request.allowsMeteredNetwork = !unmetered
  }
}

struct Upload: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Uploads a file in a separate process, which continues after this one has ended.",
    discussion: """
      Other users of the machine can see the command line. Pass keys in a file or on standard input with --header-file. The \
      list of transfers keeps header fields until the upload has ended; only its user can read them.
      """)

  @ParentCommand var parent: TidingsFetch

  @Argument(help: "The file to send. It must not change until the upload has ended.")
  var file: String

  @Argument(help: "The http or https URL.")
  var url: HTTPLink

  @Option(help: "The method: POST or PUT.")
  var method = UploadMethod.post

  @Option(help: "The media type, such as image/jpeg.")
  var type = "application/octet-stream"

  @Option(help: "A field of the request, such as 'Content-Language: en'. It can be repeated.")
  var header: [HeaderField] = []

  @Option(help: "A file with one field of the request per line, such as a key; - is standard input.")
  var headerFile: String?

  @OptionGroup var conditions: TransferConditions
  @OptionGroup var following: FollowOptions
  var json: Bool { following.json }

  func run() async throws {
    let file = absolute(file)
    guard !isFolder(file) else { throw ValidationError("'\(self.file)' is a folder; only a file can be uploaded") }
    guard FileManager.default.isReadableFile(atPath: file.path(percentEncoded: false)) else {
      throw ValidationError("Cannot read the file '\(self.file)'")
    }
    let fields = try header + (headerFile.map { try HeaderField.read($0) } ?? [])
    var request = TransferRequest(upload: file, to: url.url, method: method.rawValue)
    request.mediaType = type
    request.headers = Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
    conditions.apply(to: &request)
    try await parent.begin(request, following)
  }
}

struct Transfers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists downloads and uploads, and pauses, resumes or cancels them.",
    subcommands: [List.self, Pause.self, Resume.self, Cancel.self], defaultSubcommand: List.self)

  struct List: JSONReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Lists transfers, oldest first.")

    @ParentCommand var parent: TidingsFetch

    @OptionGroup var following: FollowOptions
    var json: Bool { following.json }

    func run() async throws {
      let journal = try parent.journal()
      parent.startWorkerIfNeeded()
      var isOver = true
      if following.wait { isOver = try await parent.follow(journal, following) { try journal.transfers() } }
      for transfer in try journal.transfers() { try following.print(TransferLine(transfer, journal)) }
      if !isOver { throw FetchResult.failed.exitCode }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Pauses a transfer, and keeps the received part.")

    @ParentCommand var parent: TidingsFetch
    @Argument(help: "The number of the transfer.") var number: Int64

    func run() async throws { try parent.known(number).suspend(number) }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Resumes a paused or failed transfer.")

    @ParentCommand var parent: TidingsFetch
    @Argument(help: "The number of the transfer.") var number: Int64

    func run() async throws {
      guard try parent.known(number).resume(number) else {
        throw Refusal("the transfer \(number) has ended; start a new one")
      }
      try parent.workerProcess().start()
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Cancels a transfer, and deletes the received part.")

    @ParentCommand var parent: TidingsFetch
    @Argument(help: "The number of the transfer.") var number: Int64

    func run() async throws { try parent.known(number).cancel(number) }
  }
}

struct Worker: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Performs the downloads and uploads of a store until none is left. Other commands start it.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    // The terminal that has started the worker may be closed.
    signal(SIGHUP, SIG_IGN)
    let worker = try parent.worker()
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    // A worker that receives a signal ends regularly. Otherwise its transfers would be suspected of a crash.
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await worker.run() }
      group.addTask { for await _ in signals { break } }
      try await group.next()
      group.cancelAll()
      try await group.waitForAll()
    }
  }
}

extension TidingsFetch {
  /// Returns the journal if it has a transfer with the number.
  ///
  /// - Throws: ``Refusal`` if it has none.
  fileprivate func known(_ number: Int64) throws -> TransferJournal {
    let journal = try journal()
    guard try journal.transfer(number) != nil else {
      throw Refusal("there is no transfer \(number); tidings-fetch transfers lists them")
    }
    return journal
  }

  /// Begins a transfer without a session.
  func begin(_ request: TransferRequest, _ following: FollowOptions) async throws {
    let journal = try journal()
    let number = try journal.add(request).number
    try journal.resume(number)
    try workerProcess().start()
    var isOver = true
    if following.wait {
      isOver = try await follow(journal, following) { [try journal.transfer(number)].compactMap(\.self) }
    }
    guard let transfer = try journal.transfer(number) else { return }
    try following.print(TransferLine(transfer, journal))
    if following.wait, !isOver || transfer.state != .finished { throw FetchResult.failed.exitCode }
  }

  /// Waits for the end of transfers; see ``TransferDisplay/follow(timeout:_:)``.
  func follow(
    _ journal: TransferJournal, _ following: FollowOptions, _ transfers: () throws -> [Transfer]
  ) async throws -> Bool {
    let display = TransferDisplay(journal) { startWorkerIfNeeded() }
    return try await display.follow(timeout: following.timeout, transfers)
  }
}

/// The options for waiting for transfers and printing them.
struct FollowOptions: ParsableArguments {
  @Flag(help: "Waits for the end, and shows the progress.")
  var wait = false

  @Option(help: "The seconds without data after which --wait ends. The transfer continues.")
  var timeout = 60.0

  @Flag(help: "Prints each transfer as a line of JSON.")
  var json = false

  func validate() throws {
    guard timeout > 0, timeout.isFinite else { throw ValidationError("The value of '--timeout' must be above 0") }
  }

  /// Prints a transfer. After a wait, a terminal already shows it.
  func print(_ line: TransferLine) throws {
    if json { return try printJSON(line) }
    if !wait || Terminal.errors == nil { try Output.print(line.text) }
  }
}

private func absolute(_ path: String) -> URL { URL(filePath: path).absoluteURL.standardizedFileURL }

func isFolder(_ file: URL) -> Bool {
  (try? file.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
}

/// An http or https address, with or without a query.
struct HTTPLink: ExpressibleByArgument {
  let url: URL

  init?(argument: String) {
    guard let url = URL(string: argument), url.requestObstacle == nil, url.user() == nil else { return nil }
    self.url = url
  }
}

/// A SHA-256 in hexadecimal digits.
struct Digest: ExpressibleByArgument {
  let digits: String

  init?(argument: String) {
    digits = argument.lowercased()
    guard digits.wholeMatch(of: /[0-9a-f]{64}/) != nil else { return nil }
  }
}

/// A header field, as `Name: value`.
struct HeaderField: ExpressibleByArgument {
  let name: String
  let value: String

  init?(argument: String) {
    guard let match = argument.wholeMatch(of: /([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([^\r\n\0]*)/) else { return nil }
    (name, value) = (String(match.1), String(match.2))
  }

  /// The maximum number of bytes of all fields in a file.
  private static let maximumBytes = 65_536

  /// Reads the fields in a file, one per line. Empty lines and lines that begin with a number sign are ignored.
  ///
  /// - Parameter path: The path of the file; `-` for standard input.
  /// - Throws: `ValidationError`, without the text of a line, which may be secret.
  static func read(_ path: String) throws -> [HeaderField] {
    let name = path == "-" ? "standard input" : "the file '\(path)'"
    let data =
      path == "-"
      ? try readInput(maximumBytes: maximumBytes)
      : try? FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: maximumBytes + 1) ?? Data()
    guard let data else { throw ValidationError("Cannot read the header fields in \(name)") }
    guard data.count <= maximumBytes else {
      throw ValidationError("The header fields in \(name) have more than \(maximumBytes) bytes")
    }
    let lines = String(decoding: data, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return try lines.enumerated().compactMap { index, line in
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.isEmpty || text.hasPrefix("#") { return nil }
      guard let field = HeaderField(argument: text) else {
        throw ValidationError("Line \(index + 1) of \(name) is not a header field such as 'Name: value'")
      }
      return field
    }
  }
}

enum UploadMethod: String, ExpressibleByArgument {
  case post = "POST"
  case put = "PUT"
}
