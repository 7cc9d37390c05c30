import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import MediaFiles
import NIOCore
import News
import NewsPages
import NewsStore
import Synchronization

/// Converts errors thrown by inner layers to responses, which no other middleware does. It also refuses requests that the
/// router accepts though it should not, and removes the body of responses to HEAD.
struct ProblemResponses: RouterMiddleware {
  let routes: RouteTable
  let proxies: TrustedProxies
  /// The renderer of pages for readers; nil if there are no pages.
  let renderer: PageRenderer?
  /// The modules whose errors have another form than those of the API.
  let modules: [any RouteModule]
  /// Limits the lines about our faults, which a client may cause at will.
  private let failures = LogLineLimit()

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      try check(request)
      response = try await next(request, context)
    } catch {
      var problem = problem(for: error, request)
      context.record.setProblem(problem.problem.type)
      if problem.isOurFault, let suppressed = failures.line() {
        // The client cannot correct the error. The log contains the cause, under the request id in the response.
        context.logger.error(
          "request failed",
          metadata: [
            "method": "\(request.method)", "route": "\(context.route)", "error": "\(String(reflecting: error))",
            "client": "\(proxies.client(of: request, context))",
          ].merging(context.record.metadata) { own, _ in own }.merging(suppressed) { own, _ in own })
      }
      // A page that may read the resource may also read its errors.
      let path = request.uri.path
      if routes.methods(of: path).contains(.options), !path.hasPrefix(APIPath.editorial + "/") {
        CORS.add(to: &problem.headers)
      }
      response = self.response(to: problem, request)
    }
    if response.status != .noContent || request.method != .options, !response.headers.areForAll {
      response.headers[.requestID] = context.requestID
    }
    return request.method == .head ? response.createHeadResponse() : response
  }

  /// Returns the response in the form that the client expects: a page of a module, a page for readers, or JSON.
  private func response(to problem: ProblemError, _ request: Request) -> Response {
    if let module = modules.first(where: { $0.owns(request.uri.path) }) {
      let (fields, text) = module.errorPage(of: problem.problem, headers: problem.headers)
      return Response(
        status: HTTPResponse.Status(code: problem.problem.status), headers: fields,
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
    let isPage = [.get, .head].contains(request.method) && APIPath.isPage(request.uri.path)
    return problem.response(isPage ? renderer : nil)
  }

  /// Checks the size of the header, and the spelling of the path.
  ///
  /// - Throws: `ProblemError`: 431 if the target and the fields are longer than those of any legitimate client; 404 for
  ///   other spellings of a path, such as `/v1/items/` and `//v1/items`, which the router treats as equal. Each would be
  ///   another key in every cache, and could bypass the rules of a proxy.
  private func check(_ request: Request) throws {
    var size = request.uri.string.utf8.count
    // Each field line also has a colon, a space and a line end.
    for field in request.headers { size += field.name.rawName.utf8.count + field.value.utf8.count + 4 }
    guard size <= EdgeChannel.maximumHeaderBytes else { throw ProblemError.headersTooLarge }
    let path = request.uri.path
    let slash = UInt8(ascii: "/")
    let hasEmptySegment = zip(path.utf8, path.utf8.dropFirst()).contains { $0 == slash && $1 == slash }
    guard path == "/" || path.utf8.last != slash && !hasEmptySegment else { throw ProblemError.notFound }
  }

  private func problem(for error: any Error, _ request: Request) -> ProblemError {
    if let problem = ProblemError(expected: error) { return problem }
    switch error {
    case let error as HTTPError where error.status == .notFound: return unroutable(request)
    case is CancellationError: return .unavailable
    default: return .internal
    }
  }

  private func unroutable(_ request: Request) -> ProblemError {
    let methods = routes.methods(of: request.uri.path)
    return methods.isEmpty ? .notFound : .methodNotAllowed(methods)
  }
}

extension ProblemError {
  /// The problem of an error that handlers throw on purpose; nil for any other error.
  package init?(expected error: any Error) {
    switch error {
    case let error as ProblemError: self = error
    case let error as StoreError: self.init(error)
    case let error as MediaError: self.init(error)
    default: return nil
    }
  }

  /// The problem of an expected error that ends a part of a request only. The log has the cause if the operator has to act.
  package init?(ofPart error: any Error, _ context: APIContext) {
    guard let problem = ProblemError(expected: error) else { return nil }
    self = problem
    if isOurFault {
      context.logger.error("part of a request failed", metadata: ["error": "\(String(reflecting: error))"])
    }
  }

  /// Returns the response to a GET that has not passed the router.
  ///
  /// - Parameter renderer: The renderer of pages, for the reader of a page; nil for clients of the API.
  func storedResponse(_ renderer: PageRenderer? = nil) -> StoredResponse {
    let (fields, body) = content(renderer)
    var response = Response(
      status: HTTPResponse.Status(code: problem.status), headers: fields, body: ResponseBody(byteBuffer: body))
    if !response.headers.areForAll { response.headers[.requestID] = RequestID().description }
    return StoredResponse(status: response.status, fields: response.headers, body: body)
  }
}

extension HTTPFields {
  /// Whether the response is the same for all clients and must not depend on the single request: one that caches may
  /// store, or one that several long polls share.
  fileprivate var areForAll: Bool {
    self[.cacheControl].map(CachePolicy.isShared) ?? false || self[.syncToken] != nil
  }
}

/// The methods and paths of all routes. They distinguish an unknown path (404) from an unknown method (405), which the
/// router does not do.
final class RouteTable: Sendable {
  private let routes = Mutex<[(pattern: [Substring], method: HTTPRequest.Method)]>([])

  /// Stores the routes of a router, after all of them have been added.
  func add(_ router: Router<APIContext>) {
    routes.withLock { routes in
      routes = router.routes.map { (Self.split($0.path.description), $0.method) }
    }
  }

  /// Returns the methods of a path, sorted; none for an unknown path.
  func methods(of path: String) -> [HTTPRequest.Method] {
    let parts = Self.split(path)
    return routes.withLock { routes in
      routes.filter { Self.matches($0.pattern, parts) }.map(\.method).sorted { $0.rawValue < $1.rawValue }
    }
  }

  private static func split(_ path: String) -> [Substring] { path.split(separator: "/") }

  private static func matches(_ pattern: [Substring], _ parts: [Substring]) -> Bool {
    pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
  }
}
