import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import News
import NewsAPI
import NewsStore

/// Registers routes, each with the checks that its requests must pass before the handler.
struct ConsoleRouter {
  /// A handler of requests without a session.
  typealias OpenHandler = @Sendable (Request, APIContext) async throws -> Response
  /// A handler of reads.
  typealias PageHandler = @Sendable (Request, ConsoleVisit, APIContext) async throws -> Response
  /// A handler of forms without files.
  typealias ActionHandler = @Sendable (FormFields, ConsoleVisit, APIContext) async throws -> Response
  /// A handler of forms with files. Their first field, the token of the form, has been read and checked.
  typealias UploadHandler = @Sendable (MultipartReader, ConsoleVisit, APIContext) async throws -> Response

  let services: ConsoleServices
  let router: Router<APIContext>

  /// The maximum length of a form without files, in bytes.
  private static let maximumFormBytes = 64 << 10
  /// The maximum length of the fields of a form with files, in bytes.
  private static let maximumFieldBytes = 4 << 20
  /// The maximum number of parts of a form with files. An item with 32 attachments has 300 fields.
  private static let maximumParts = 600

  /// Registers a route that needs no session.
  func open(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping OpenHandler) {
    on(method, path) { [services] request, context in
      if method == .post { try services.policy.checkOrigin(request) }
      return try await handler(request, context)
    }
  }

  /// Registers a page, for GET and HEAD.
  ///
  /// - Parameter permissions: The permissions of which the key needs one; none for any key.
  func page(_ path: String, for permissions: [APIKey.Permission] = [], _ handler: @escaping PageHandler) {
    on(.get, path) { [services] request, context in
      guard let visit = try await Self.visit(of: request, context, services) else {
        return services.pages.signInRedirect(from: request)
      }
      return try await Self.respond(to: visit, services) {
        try visit.require(oneOf: permissions)
        return try await handler(request, visit, context)
      }
    }
  }

  /// Registers the target of a form without files.
  func action(_ path: String, for permissions: [APIKey.Permission] = [], _ handler: @escaping ActionHandler) {
    on(.post, path) { [services] request, context in
      let visit = try await Self.visitOfForm(request, context, services)
      return try await Self.respond(to: visit, services) {
        try visit.require(oneOf: permissions)
        let fields = try await FormBody.fields(
          of: request, context: context, maximumBytes: Self.maximumFormBytes)
        guard visit.formToken.matches(fields.first(FormToken.field)) else { throw ProblemError.formExpired }
        return try await handler(fields, visit, context)
      }
    }
  }

  /// Registers the target of a form with files.
  ///
  /// - Parameter showAgain: Shows a form of an earlier session again, without storing anything; nil to refuse it.
  func upload(
    _ path: String, for permissions: [APIKey.Permission], showAgain: UploadHandler? = nil,
    _ handler: @escaping UploadHandler
  ) {
    on(.post, path) { [services] request, context in
      let visit = try await Self.visitOfForm(request, context, services)
      return try await Self.respond(to: visit, services) {
        try visit.require(oneOf: permissions)
        context.record.setUpload()
        var limits = MultipartLimits(
          totalBytes: Self.maximumFieldBytes + (visit.mayUpload ? services.editorial.maximumMediaBytes : 0))
        limits.parts = Self.maximumParts
        let parts = try FormBody.parts(of: request, context: context, limits: limits)
        // Nothing of the form is used before its token is known.
        guard case .field(name: FormToken.field, value: let token)? = try await parts.nextPart() else {
          throw ProblemError.formExpired
        }
        guard visit.formToken.matches(token) else {
          guard let showAgain, services.policy.isFromOwnPage(request) else { throw ProblemError.formExpired }
          return try await showAgain(parts, visit, context)
        }
        return try await handler(parts, visit, context)
      }
    }
  }

  /// Returns the response to a request of a session. The page of an error has the navigation.
  ///
  /// - Throws: An error that is not the client's, and is logged.
  private static func respond(
    to visit: ConsoleVisit, _ services: ConsoleServices, _ handle: () async throws -> Response
  ) async throws -> Response {
    do {
      return try await NewsStore.onBehalf(of: visit.session.key.id, handle)
    } catch {
      let expected = (error as? FormError).map(ProblemError.init) ?? ProblemError(expected: error)
      guard let expected, expected.problem.status < 500 else { throw error }
      let (fields, text) = services.pages.errorPage(of: expected.problem, headers: expected.headers, for: visit)
      return Response(
        status: .init(code: expected.problem.status), headers: fields,
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
  }

  private func on(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping OpenHandler) {
    let checked: OpenHandler = { [services] request, context in
      try services.policy.checkPlace(request, context)
      do {
        return try await handler(request, context)
      } catch let error as FormError {
        throw ProblemError(error)
      }
    }
    router.on(RouterPath(path), method: method, use: checked)
    if method == .get { router.on(RouterPath(path), method: .head, use: checked) }
  }

  /// Returns the visit of a request that sends a form.
  ///
  /// - Throws: `ProblemError`, 403, for a form of another site, or without a session.
  private static func visitOfForm(
    _ request: Request, _ context: APIContext, _ services: ConsoleServices
  ) async throws -> ConsoleVisit {
    try services.policy.checkOrigin(request)
    guard let visit = try await visit(of: request, context, services) else { throw ProblemError.sessionEnded }
    return visit
  }

  /// Returns the visit of a request; nil without a session that has not ended.
  ///
  /// - Throws: `ProblemError`, 429, if the key has sent too many requests, or 403 if it may do nothing here; `StoreError`.
  private static func visit(
    of request: Request, _ context: APIContext, _ services: ConsoleServices
  ) async throws -> ConsoleVisit? {
    guard let token = services.cookie.token(in: request.headers) else { return nil }
    guard await services.store.isAnswering() else { throw ProblemError.unavailable(services.store) }
    guard let session = try await services.store.session(token: token) else { return nil }
    context.record.setKey(session.key)
    try services.api.charge(session.key)
    return ConsoleVisit(
      session: session, formToken: FormToken(sessionToken: token),
      acceptsGzip: services.policy.allowsCompression(request))
  }
}

extension APIContext: FormBodyContext {}

extension ProblemError {
  fileprivate init(_ error: FormError) {
    self.init(error.status, error.textKey, "The form cannot be read")
  }
}
