import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient

/// The printed form of a transfer.
struct TransferLine: Encodable {
  /// The reasons to wait.
  enum Wait: String, Encodable {
    case power, network, retry
  }

  let number: Int64
  let direction: TransferRequest.Direction
  let url: URL
  let file: String?
  let state: Transfer.State
  let completed: Int64
  let total: Int64?
  let failure: String?
  let location: String?
  /// The reason to wait; nil if the transfer is active or not running.
  let waitsFor: Wait?
  /// The seconds until the next attempt.
  let retryIn: Int?

  init(_ transfer: Transfer, _ journal: TransferJournal) {
    number = transfer.number
    direction = transfer.request.direction
    url = transfer.request.url
    file = transfer.request.file?.path(percentEncoded: false)
    (state, completed, total) = (transfer.state, transfer.completed, transfer.total)
    (failure, location) = (transfer.failure, transfer.response?.location)
    let delay = state == .running ? journal.delay(of: transfer) : 0
    retryIn = delay > 0 ? Int(delay.rounded(.up)) : nil
    waitsFor =
      switch transfer.obstacle {
      case _ where state != .running: nil
      case .power?: .power
      case .network?: .network
      case nil: delay > 0 ? .retry : nil
      }
  }

  /// The line for people, safe for terminals.
  var text: String {
    let whole = total.map { " of \(ByteAmount.text($0))" } ?? ""
    let note = failure.map { ": \($0.terminalSafe)" } ?? ""
    return "\(number)  \(status)  \(ByteAmount.text(completed))\(whole)  \(name)\(note)"
  }

  /// The last part of the path, or the address.
  var name: String { (file.map { URL(filePath: $0).lastPathComponent } ?? url.absoluteString).terminalSafe }

  /// The state in words, with the reason to wait.
  var status: String {
    switch waitsFor {
    case .power: "waits for external power"
    case .network: "waits for an unmetered network"
    case .retry: "tries again in \(roundedTime(Double(retryIn ?? 0)))"
    case nil: state.rawValue
    }
  }
}
