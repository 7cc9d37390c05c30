/// An event that a session reports to its delegate.
struct TransferEvent: Sendable, Hashable, Codable {
  enum Kind: Sendable, Hashable, Codable {
    /// The transfer continues from an offset in bytes.
    case resumed(Int64)
    /// The transfer has ended. Its state and failure describe the outcome.
    case completed
  }

  var number: Int64 = 0
  var transfer: Int64
  var kind: Kind
}
