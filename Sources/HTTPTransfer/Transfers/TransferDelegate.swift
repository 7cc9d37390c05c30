public import Foundation

/// Receives the events of the transfers of a session, one after the other. The counterpart of
/// `URLSessionDownloadDelegate`.
///
///     struct Gallery: TransferDelegate {
///       func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL) {
///         print("complete: \(file.path(percentEncoded: false))")
///       }
///       func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
///         print(transfer.state, transfer.failure ?? "")
///       }
///     }
public protocol TransferDelegate: Sendable {
  /// Reports received or sent bytes.
  ///
  /// - Parameters:
  ///   - task: The transfer.
  ///   - bytes: The number of bytes since the last call; negative if a download has begun again.
  ///   - completed: The number of bytes so far.
  ///   - expected: The total number of bytes; nil while it is unknown.
  func transfer(_ task: TransferTask, didTransfer bytes: Int64, completed: Int64, expected: Int64?)
  /// Reports that a transfer continues from an offset in bytes.
  func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?)
  /// Reports a complete download. A file without a destination is removed when this returns.
  func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL)
  /// Reports the end of a transfer: finished, failed or cancelled. It is the last event of the transfer.
  func transfer(_ task: TransferTask, didEndAs transfer: Transfer)
}

extension TransferDelegate {
  /// Does nothing.
  public func transfer(_ task: TransferTask, didTransfer bytes: Int64, completed: Int64, expected: Int64?) {}
  /// Does nothing.
  public func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?) {}
  /// Does nothing.
  public func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL) {}
}
