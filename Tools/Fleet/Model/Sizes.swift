/// The sizes of responses on the wire in bytes, with HTTP/1.1.
///
///     var sizes = Sizes()
///     sizes.item = 280
///     print(sizes.changes(json: 3000), "bytes for a list of 3,000 bytes of JSON")
public struct Sizes: Sendable, Hashable {
  /// The header section of a 304 of a server.
  public var notModified = 314.0
  /// The header section of a 200 of `/v1/changes`, without compression.
  public var head = 358.0
  /// The further bytes of the header section of a compressed response.
  public var compressedHead = 28.0
  /// The further bytes of the header section of `/v1/items`.
  public var pageHead = 100.0
  /// The growth of a header section in nginx.
  public var proxyHead = 46.0
  /// The JSON of a list without items.
  public var list = 53.0
  /// The JSON of an item without its text.
  public var item = 217.0
  /// The compressed size of a list of 2,000 bytes of JSON.
  public var compressed2k = 1010.0
  /// The compressed size of a list of 100,000 bytes of JSON.
  public var compressed100k = 35_900.0
  /// An event of a stream.
  public var event = 150.0
  /// The response to the registration of a device, or to its renewal.
  public var device = 388.0
  /// The response to a report.
  public var report = 203.0
  /// The response of `/v1/push`.
  public var offer = 400.0

  /// Creates the sizes of a release build, with texts whose words are as frequent as in natural language.
  public init() {}

  /// Returns the size of a response with changes.
  ///
  /// - Parameter json: The size of its JSON.
  public func changes(json: Double) -> Double { head + body(json) }

  /// Returns the size of a response with the first page of items.
  ///
  /// - Parameter json: The size of its JSON.
  public func page(json: Double) -> Double { head + pageHead + body(json) }

  /// Returns the size of a body. From 1 KiB on, it is compressed.
  private func body(_ json: Double) -> Double {
    guard json >= 1024 else { return json }
    // A compressed body grows evenly, after a beginning in which few words repeat.
    return compressedHead + min(json, compressed2k + (json - 2000) * (compressed100k - compressed2k) / 98_000)
  }
}
