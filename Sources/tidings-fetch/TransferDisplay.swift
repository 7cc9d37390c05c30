import Foundation
import NewsClient

/// A transfer as it is printed.
struct TransferLine: Encodable {
  let number: Int64
  let direction: TransferRequest.Direction
  let url: URL
  let file: String?
  let state: Transfer.State
  let completed: Int64
  let total: Int64?
  let failure: String?
  let location: String?

  init(_ transfer: Transfer) {
    number = transfer.number
    direction = transfer.request.direction
    url = transfer.request.url
    file = transfer.request.file?.path(percentEncoded: false)
    (state, completed, total) = (transfer.state, transfer.completed, transfer.total)
    (failure, location) = (transfer.failure, transfer.answer?.location)
  }

  /// The line for people.
  var text: String {
    let name = file.map { URL(filePath: $0).lastPathComponent } ?? url.absoluteString
    let whole = total.map { " of \(Self.amount($0))" } ?? ""
    let note = failure.map { ": \($0)" } ?? ""
    return "\(number)  \(state.rawValue)  \(Self.amount(completed))\(whole)  \(name)\(note)"
  }

  /// Bytes for people.
  static func amount(_ bytes: Int64) -> String {
    var value = Double(bytes)
    for unit in ["B", "KiB", "MiB"] {
      if value < 1024 { return unit == "B" ? "\(bytes) B" : String(format: "%.1f \(unit)", value) }
      value /= 1024
    }
    return String(format: "%.1f GiB", value)
  }
}

/// Shows on a terminal how far transfers are: a line with a bar for each, drawn anew until all are over.
struct TransferDisplay {
  private static let width = 24
  private static let pause = Duration.milliseconds(200)

  private let journal: TransferJournal

  init(_ journal: TransferJournal) { self.journal = journal }

  /// Whether there is somebody to show anything.
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Shows transfers until all are over; without a terminal only waits for that.
  func follow(_ transfers: () throws -> [Transfer]) async throws {
    var rates: [Int64: Rate] = [:]
    var drawn = 0
    while true {
      let current = try transfers()
      let isOver = current.allSatisfy { $0.state != .running }
      if Self.isTerminal {
        let lines = current.map { transfer in
          var rate = rates[transfer.number] ?? Rate()
          defer { rates[transfer.number] = rate }
          return Self.line(transfer, perSecond: rate.add(transfer.completed))
        }
        draw(lines, over: drawn)
        drawn = lines.count
      }
      if isOver { return }
      try await Task.sleep(for: Self.pause)
    }
  }

  /// Over the lines that were drawn before.
  private func draw(_ lines: [String], over drawn: Int) {
    let up = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
    let text = lines.map { "\r\u{1B}[2K\($0)\n" }.joined()
    FileHandle.standardError.write(Data((up + text).utf8))
  }

  private static func line(_ transfer: Transfer, perSecond: Double) -> String {
    let line = TransferLine(transfer)
    guard transfer.state == .running, let total = transfer.total, total > 0 else { return line.text }
    let share = min(1, Double(transfer.completed) / Double(total))
    let full = Int(share * Double(width))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    let left = perSecond > 0 ? ", \(time(Double(total - transfer.completed) / perSecond)) left" : ""
    let percent = "\(Int(share * 100))%"
    return "\(bar) \(percent)  \(line.text)  \(TransferLine.amount(Int64(perSecond)))/s\(left)"
  }

  private static func time(_ seconds: Double) -> String {
    let whole = Int(min(seconds, 360_000).rounded(.up))
    if whole < 60 { return "\(whole) s" }
    return whole < 3600 ? "\(whole / 60) min" : "\(whole / 3600) h \(whole % 3600 / 60) min"
  }

  /// How fast something moves, over the last seconds.
  private struct Rate {
    private var samples: [(at: ContinuousClock.Instant, bytes: Int64)] = []

    /// - Returns: Bytes a second.
    mutating func add(_ bytes: Int64) -> Double {
      samples.append((.now, bytes))
      samples.removeAll { $0.at < .now - .seconds(5) || $0.bytes > bytes }
      guard let first = samples.first, samples.count > 1 else { return 0 }
      let seconds = (ContinuousClock.now - first.at) / .seconds(1)
      return seconds > 0 ? Double(bytes - first.bytes) / seconds : 0
    }
  }
}
