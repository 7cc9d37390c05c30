import HTTPTypes
import Hummingbird
import NIOCore
import NewsAPI
import NewsPages
import NewsStore

/// The handler of the files that the pages of the console load.
struct AssetHandlers: Sendable {
  let pages: ConsolePages

  /// Returns a file. An address with the hash of another version gets the current file, which no cache keeps.
  @Sendable func asset(_ request: Request, context: APIContext) async throws -> Response {
    guard let found = pages.assets.asset(named: context.parameters.get("name") ?? "") else {
      throw StoreError.notFound
    }
    var fields = ConsoleHeaders.common
    fields[.contentType] = found.asset.contentType
    if found.isCurrent { fields[.cacheControl] = "public, max-age=31536000, immutable" }
    return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: found.asset.text)))
  }
}
