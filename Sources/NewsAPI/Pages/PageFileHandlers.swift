import HTTPTypes
import Hummingbird
import NIOCore
import NewsPages
import NewsStore

/// The handlers of the files that pages for readers refer to.
struct PageFileHandlers: Sendable {
  /// A file as a response.
  private struct File: Sendable {
    let representation: Representation
    let text: ByteBuffer

    init(_ text: String, contentType: String, fields: HTTPFields = [:]) {
      var fields = fields
      fields[.xContentTypeOptions] = "nosniff"
      representation = Representation(Array(text.utf8), contentType: contentType, fields: fields)
      self.text = ByteBuffer(string: text)
    }
  }

  private let metrics: APIMetrics
  private let assets: PageAssets
  private let files: [String: File]
  private let workerFile: File

  init(views: PageViews, metrics: APIMetrics) {
    let assets = views.renderer.assets
    self.metrics = metrics
    self.assets = assets
    files = Dictionary(
      uniqueKeysWithValues: assets.all.map { asset in
        (asset.name, File(asset.text, contentType: asset.contentType))
      })
    workerFile = File(
      PageAssets.worker, contentType: "text/javascript; charset=utf-8",
      fields: [.contentSecurityPolicy: PageViews.workerPolicy])
  }

  /// Returns a file. An address with the hash of another version gets the current file, which caches keep for a second.
  @Sendable func asset(_ request: Request, context: APIContext) async throws -> Response {
    guard let found = assets.asset(named: context.parameters.get("name") ?? ""), let file = files[found.asset.name]
    else { throw StoreError.notFound }
    let caching: CachePolicy = found.isCurrent ? .immutable : .brief
    return try await file.representation.response(to: request, caching, metrics) { file.text }
  }

  /// Returns the service worker. A browser that has it asks whether there is a new one.
  @Sendable func worker(_ request: Request, context: APIContext) async throws -> Response {
    try await workerFile.representation.response(to: request, .revalidated, metrics) { workerFile.text }
  }
}
