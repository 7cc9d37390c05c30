/// A client's position in a scope: an epoch and the version up to which the client has its changes.
///
/// A token is opaque to every client but our own. It consists of a digit for the kind, six characters of epoch, five of
/// the scope's fingerprint, a point, and the version in base 36. The continuation of a snapshot adds another point and
/// a position. A token has at most 32 characters of `[a-z0-9.]`. Kind 1 is a client with all changes up to the version,
/// kind 2 the continuation of a snapshot, and kind 3 the continuation of changes that did not fit into one response.
///
///     let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: 36)
///     print(token)  // 1k3x9qam9pkx.10
///     print(SyncToken("1k3x9qam9pkx.10") == token)  // true
public struct SyncToken: Sendable, Hashable {
  /// The random id of the history that the version belongs to. Versions are comparable within one epoch only.
  public let epoch: String
  /// The fingerprint of the scope.
  public let scope: String
  /// The version of the last change that the client has. In the continuation of a snapshot it is the version at which
  /// the snapshot began, by which the token's expiry is determined.
  public let version: Int
  /// The version up to which a snapshot has been read; nil in ordinary tokens.
  public let position: Int?
  /// Whether further changes were pending when the server issued the token.
  ///
  /// The client then lacks items that changed again after ``version``: they are in the pending changes. A history that
  /// branches off in between does not contain these changes. The token is therefore valid only in the history of its
  /// own epoch.
  public let isPartial: Bool

  /// The largest version and position: nine digits of base 36.
  public static let maximumVersion = 101_559_956_668_415

  /// Creates a token.
  ///
  /// - Parameters:
  ///   - epoch: Six characters of `[a-z0-9]`.
  ///   - scope: The scope that the client follows.
  ///   - version: 0...``maximumVersion``.
  ///   - position: 0...``maximumVersion`` in the continuation of a snapshot, nil in ordinary tokens.
  ///   - isPartial: Whether further changes are pending. With a position it is always true.
  public init(epoch: String, scope: Scope, version: Int, position: Int? = nil, isPartial: Bool = false) {
    self.epoch = epoch
    self.scope = scope.fingerprint
    self.version = version
    self.position = position
    self.isPartial = isPartial || position != nil
  }

  /// Parses a token.
  ///
  /// - Returns: nil unless the text is in canonical form, so that each state has one spelling.
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

  private static func isDigit(_ byte: UInt8) -> Bool { byte.isASCIIDigit || byte.isASCIILowercase }

  private static func number(_ bytes: some Collection<UInt8>) -> Int? {
    guard 1...9 ~= bytes.count, bytes.first != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self), radix: 36)
  }
}

extension SyncToken: CustomStringConvertible {
  /// The token as it is sent.
  public var description: String {
    let kind = position != nil ? "2" : isPartial ? "3" : "1"
    let tail = position.map { "." + String($0, radix: 36) } ?? ""
    return kind + epoch + scope + "." + String(version, radix: 36) + tail
  }
}

extension SyncToken: Codable {
  /// Decodes a token from a JSON string.
  ///
  /// - Throws: `DecodingError` unless the string is a token in canonical form.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let string = try container.decode(String.self)
    guard let token = SyncToken(string) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a sync token")
    }
    self = token
  }

  /// Encodes the ``description`` as a JSON string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
