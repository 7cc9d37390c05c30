import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient

struct Download: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download",
    abstract: "Downloads a file, in a process of its own that goes on whatever becomes of this one.",
    discussion: """
      What was cut off goes on where it ended, if the server still has the same. The file is there when it is whole, and
      never before. With --wait the exit code is 0 for a file that is whole and 20 for one that was given up.
      """)

  @ParentCommand var parent: TidingsFetch

  @Argument(help: "http or https.")
  var url: HTTPLink

  @Option(help: "Where it is put.")
  var output: String

  @Option(help: "What it must be: 64 hexadecimal digits.")
  var sha256: Digest?

  @Option(help: "The media type that it must have, such as image/jpeg; anything but HTML if nothing is said.")
  var type: String?

  @Flag(help: "Waits for a network that is not paid by volume, and for external power.")
  var discretionary = false

  @Flag(help: "Waits for the end, and shows how far it is.")
  var wait = false

  func run() async throws {
    var request = TransferRequest(download: url.url, to: absolute(output))
    request.sha256 = sha256?.digits
    request.mediaType = type
    request.isDiscretionary = discretionary
    try await parent.begin(request, wait: wait)
  }
}

struct Upload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Uploads a file, in a process of its own that goes on whatever becomes of this one.")

  @ParentCommand var parent: TidingsFetch

  @Argument(help: "What is sent; it must stay as it is until it has arrived.")
  var file: String

  @Argument(help: "http or https.")
  var url: HTTPLink

  @Option(help: "POST or PUT.")
  var method = UploadMethod.POST

  @Option(help: "The media type, such as image/jpeg.")
  var type = "application/octet-stream"

  @Option(help: "A field of the request, such as 'Authorization: Bearer KEY'; may be given several times.")
  var header: [HeaderField] = []

  @Flag(help: "Waits for a network that is not paid by volume, and for external power.")
  var discretionary = false

  @Flag(help: "Waits for the end, and shows how far it is.")
  var wait = false

  func run() async throws {
    let file = absolute(file)
    guard FileManager.default.isReadableFile(atPath: file.path(percentEncoded: false)) else {
      throw ValidationError("The file '\(self.file)' cannot be read")
    }
    var request = TransferRequest(upload: file, to: url.url, method: method.rawValue)
    request.mediaType = type
    request.headers = Dictionary(header.map { ($0.name, $0.value) }) { $1 }
    request.isDiscretionary = discretionary
    try await parent.begin(request, wait: wait)
  }
}

struct Transfers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers", abstract: "Lists downloads and uploads, and pauses, resumes or cancels them.",
    subcommands: [List.self, Pause.self, Resume.self, Cancel.self], defaultSubcommand: List.self)

  @ParentCommand var parent: TidingsFetch

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists them, in the order in which they were begun.")

    @ParentCommand var parent: Transfers

    @Flag(help: "Prints each as a line of JSON.")
    var json = false

    @Flag(help: "Shows how far they are until all are over.")
    var wait = false

    func run() async throws {
      let journal = try parent.parent.journal()
      try parent.parent.startWorkerIfNeeded()
      if wait { try await TransferDisplay(journal).follow { try journal.transfers() } }
      for transfer in try journal.transfers() where !wait || json {
        if json { try printJSON(TransferLine(transfer)) } else { print(TransferLine(transfer).text) }
      }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pause", abstract: "Stops a transfer; what is here of it stays.")

    @ParentCommand var parent: Transfers
    @Argument(help: "The number of the transfer.") var number: Int64

    func run() async throws { try parent.known(number).suspend(number) }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resume", abstract: "Lets a transfer go on, also one that has failed.")

    @ParentCommand var parent: Transfers
    @Argument(help: "The number of the transfer.") var number: Int64

    func run() async throws {
      guard try parent.known(number).resume(number) else { throw ValidationError("The transfer \(number) is over") }
      try parent.parent.workerProcess().start()
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "Ends a transfer; what is here of it goes.")

    @ParentCommand var parent: Transfers
    @Argument(help: "The number of the transfer.") var number: Int64

    func run() async throws { try parent.known(number).cancel(number) }
  }

  /// The journal, if it has a transfer of that number.
  private func known(_ number: Int64) throws -> TransferJournal {
    let journal = try parent.journal()
    guard try journal.transfer(number) != nil else { throw ValidationError("There is no transfer \(number)") }
    return journal
  }
}

struct Worker: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Does the downloads and uploads of a store until there are none; started by itself when there are.")

  @ParentCommand var parent: TidingsFetch

  func run() async throws {
    // The terminal that it was started from may be closed.
    signal(SIGHUP, SIG_IGN)
    try await parent.worker().run()
  }
}

extension TidingsFetch {
  /// Begins a transfer that belongs to no app.
  func begin(_ request: TransferRequest, wait: Bool) async throws {
    let journal = try journal()
    let number = try journal.add(request).number
    try journal.resume(number)
    try workerProcess().start()
    guard wait else { return try printJSONOrText(journal, number) }
    try await TransferDisplay(journal).follow { [try journal.transfer(number)].compactMap(\.self) }
    guard let transfer = try journal.transfer(number) else { return }
    if !TransferDisplay.isTerminal { try printJSON(TransferLine(transfer)) }
    if transfer.state != .finished { throw FetchResult.failed.exitCode }
  }

  private func printJSONOrText(_ journal: TransferJournal, _ number: Int64) throws {
    guard let transfer = try journal.transfer(number) else { return }
    if TransferDisplay.isTerminal { print(TransferLine(transfer).text) } else { try printJSON(TransferLine(transfer)) }
  }
}

private func absolute(_ path: String) -> URL { URL(filePath: path).absoluteURL.standardizedFileURL }

/// An address of http or https, with a query or without.
struct HTTPLink: ExpressibleByArgument {
  let url: URL

  init?(argument: String) {
    guard let url = URL(string: argument), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil,
      url.user() == nil
    else { return nil }
    self.url = url
  }
}

/// SHA-256 in hexadecimal digits.
struct Digest: ExpressibleByArgument {
  let digits: String

  init?(argument: String) {
    digits = argument.lowercased()
    guard digits.wholeMatch(of: /[0-9a-f]{64}/) != nil else { return nil }
  }
}

/// `Name: value`.
struct HeaderField: ExpressibleByArgument {
  let name: String
  let value: String

  init?(argument: String) {
    guard let match = argument.wholeMatch(of: /([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([^\r\n\0]*)/) else { return nil }
    (name, value) = (String(match.1), String(match.2))
  }
}

enum UploadMethod: String, ExpressibleByArgument { case POST, PUT }
