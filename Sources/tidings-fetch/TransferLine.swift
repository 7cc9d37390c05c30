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
  /// The description, such as the beginning of the item to which the file belongs.
  let description: String?
  let state: Transfer.State
  let completed: Int64
  let total: Int64?
  let failure: String?
  let location: String?
  /// The reason to wait; nil if the transfer is active or not running.
  let waitsFor: Wait?
  /// The seconds until the next attempt.
  let retryIn: Int?
  /// Whether the file belongs to an item. Its name in the store is a digest.
  private let isAttachment: Bool

  /// The maximum width of a description, in columns.
  private static let maximumDescriptionColumns = 40

  init(_ transfer: Transfer, _ journal: TransferJournal) {
    number = transfer.number
    direction = transfer.request.direction
    url = transfer.request.url
    file = transfer.request.file?.path(percentEncoded: false)
    description = transfer.taskDescription
    let attachments = journal.folder.deletingLastPathComponent().appending(
      path: "attachments", directoryHint: .isDirectory)
    isAttachment = transfer.request.file?.deletingLastPathComponent().path == attachments.path
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

  /// The last part of the path, or of the address of an attachment, and the description.
  var name: String {
    let note = description.map { " (\($0.terminalSafe.shortened(columns: Self.maximumDescriptionColumns)))" } ?? ""
    return fileName.terminalSafe + note
  }

  private var fileName: String {
    guard let file else { return url.absoluteString }
    let name = isAttachment ? url.lastPathComponent : URL(filePath: file).lastPathComponent
    return name.isEmpty || name == "/" ? url.absoluteString : name
  }

  private enum CodingKeys: String, CodingKey {
    case number, direction, url, file, description, state, completed, total, failure, location, waitsFor, retryIn
  }

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
