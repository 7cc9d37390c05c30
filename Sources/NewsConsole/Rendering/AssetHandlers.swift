import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import NIOCore
import NewsAPI
import NewsPages
import NewsStore

/// The handler of the files that the pages of the console load.
struct AssetHandlers: Sendable {
  /// The content of a file, as it is and compressed.
  private struct File: Sendable {
    let plain: ByteBuffer
    let compressed: ByteBuffer
  }

  private let assets: PageAssets
  private let files: [String: File]

  init(assets: PageAssets) {
    self.assets = assets
    files = Dictionary(
      uniqueKeysWithValues: assets.all.map { asset in
        let plain = ByteBuffer(string: asset.text)
        return (asset.name, File(plain: plain, compressed: Gzip.compress(plain)))
      })
  }

  /// Returns a file. An address with the hash of another version gets the current file, which no cache keeps.
  @Sendable func asset(_ request: Request, context: APIContext) async throws -> Response {
    guard let found = assets.asset(named: context.parameters.get("name") ?? ""), let file = files[found.asset.name]
    else { throw StoreError.notFound }
    var fields = ConsoleHeaders.common
    fields[.contentType] = found.asset.contentType
    fields[.vary] = Vary(.acceptEncoding).fieldValue
    if found.isCurrent { fields[.cacheControl] = "public, max-age=31536000, immutable" }
    let isCompressed =
      file.compressed.readableBytes < file.plain.readableBytes
      && AcceptEncoding(fields: request.headers).preferredCoding(among: [.gzip, .identity]) == .gzip
    if isCompressed { fields[.contentEncoding] = "gzip" }
    return Response(
      status: .ok, headers: fields, body: ResponseBody(byteBuffer: isCompressed ? file.compressed : file.plain))
  }
}
