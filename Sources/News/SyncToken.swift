/// What a client keeps of a scope: how far it has followed which history.
///
/// To everyone but our own client a token is opaque. Its form is a digit for the kind, six characters of epoch, five
/// of the scope's fingerprint, a point, and the version in base 36; the continuation of a snapshot has a position
/// after another point. That is at most 32 characters of `[a-z0-9.]`. The kinds are 1 for who has everything up to the
/// version, 2 for the continuation of a snapshot, and 3 for that of changes that did not fit into one answer.
public struct SyncToken: Sendable, Hashable {
  /// The random name of the history the version belongs to. Versions compare within one epoch only.
  public let epoch: String
  /// The fingerprint of the scope.
  public let scope: String
  /// The version of the last change that is included; for the continuation of a snapshot the version at its start,
  /// by which its expiry is judged.
  public let version: Int
  /// How far a snapshot has been read, nil in ordinary tokens.
  public let position: Int?
  /// Whether more was to come when it was given out. What is held then lacks items that had been changed again beyond
  /// the version, which are to come there: in a history that branches off between the two they never would, so that it
  /// is good for the history of its epoch alone.
  public let isPartial: Bool

  /// Versions and positions have nine digits of base 36 at most.
  public static let maximumVersion = 101_559_956_668_415

  /// A token the server hands out.
  ///
  /// - Parameters:
  ///   - epoch: Six characters of `[a-z0-9]`.
  ///   - scope: What the client follows.
  ///   - version: 0...``maximumVersion``.
  ///   - position: 0...``maximumVersion`` in the continuation of a snapshot, nil in ordinary tokens.
  ///   - isPartial: Whether more is to come; that of a snapshot always is.
  public init(epoch: String, scope: Scope, version: Int, position: Int? = nil, isPartial: Bool = false) {
    self.epoch = epoch
    self.scope = scope.fingerprint
    self.version = version
    self.position = position
    self.isPartial = isPartial || position != nil
  }

  /// Reads a token.
  ///
  /// - Returns: nil for anything but the canonical form, so that one state has one spelling.
  public init?(_ string: some StringProtocol) {
    let bytes = Array(string.utf8)
    guard 14...32 ~= bytes.count, bytes.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") }),
      bytes[..<12].allSatisfy(Self.isDigit)
    else { return nil }
    let numbers = bytes[12...].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard numbers.first?.isEmpty == true, let version = numbers.dropFirst().first.flatMap(Self.number) else {
      return nil
    }
    switch (bytes[0], numbers.count) {
    case (UInt8(ascii: "1"), 2), (UInt8(ascii: "3"), 2):
      position = nil
    case (UInt8(ascii: "2"), 3):
      guard let number = Self.number(numbers[2]) else { return nil }
      position = number
    default:
      return nil
    }
    isPartial = bytes[0] != UInt8(ascii: "1")
    self.version = version
    epoch = String(decoding: bytes[1..<7], as: UTF8.self)
    scope = String(decoding: bytes[7..<12], as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte || 97...122 ~= byte }

  private static func number(_ bytes: some Collection<UInt8>) -> Int? {
    guard 1...9 ~= bytes.count, bytes.first != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self), radix: 36)
  }
}

extension SyncToken: CustomStringConvertible {
  /// The form that is sent.
  public var description: String {
    let kind = position != nil ? "2" : isPartial ? "3" : "1"
    let tail = position.map { "." + String($0, radix: 36) } ?? ""
    return kind + epoch + scope + "." + String(version, radix: 36) + tail
  }
}

extension SyncToken: Codable {
  /// Reads a JSON string.
  ///
  /// - Throws: `DecodingError` for anything but a token in its canonical form.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let string = try container.decode(String.self)
    guard let token = SyncToken(string) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a sync token")
    }
    self = token
  }

  /// Writes the ``description`` as a JSON string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
