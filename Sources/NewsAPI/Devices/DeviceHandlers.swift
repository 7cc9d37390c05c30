import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import NIOCore
import NetworkAddresses
import News
import NewsStore

/// The handlers of `/v1/push` and `/v1/devices`: the registrations of devices that receive pushes.
///
/// A device is known by its id and its secret alone. An unknown id and a wrong secret have the same response, so that ids
/// cannot be found out.
struct DeviceHandlers: Sendable {
  /// The maximum size of a body, in bytes.
  private static let largestBody = 64 << 10
  /// The wait that is recommended after a refusal because of the number of devices.
  private static let crowdedTime = TimeAmount.minutes(10)

  let store: NewsStore
  let push: NewsAPI.PushSettings
  let proxies: TrustedProxies
  /// The rate of an IPv6 site in rates of a client. A site has 65,536 networks of a client each, but those of a mobile
  /// network belong to as many subscribers.
  private static let clientsPerSite = 10

  /// Limits the registrations of a client address, and of an IPv6 site; nil for no limit.
  let limiters: (client: RateLimiter<IPAddress>, site: RateLimiter<IPAddress>)?

  init(store: NewsStore, push: NewsAPI.PushSettings, proxies: TrustedProxies) {
    self.store = store
    self.push = push
    self.proxies = proxies
    limiters = push.registrationsPerAddress.map { rate in
      (
        RateLimiter(RequestRate(perMinute: rate)), RateLimiter(RequestRate(perMinute: rate * Self.clientsPerSite))
      )
    }
  }

  @Sendable func offer(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try .device { try $0.encode(push.offer) }
  }

  @Sendable func register(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let client = proxies.address(of: request, context)
    if let client, let wait = wait(of: client) { throw ProblemError.tooManyRequests(in: wait) }
    let body = try DeviceBody(try await fields(of: request, context), push)
    let (credentials, _) = try await limited {
      try await store.registerDevice(body.registration, from: client?.neighbourhood, limits: push.limits)
    }
    // An address that was known before has the same response: it does not reveal that a device is registered.
    return try .device(status: .created) { try $0.encode(credentials) }
  }

  /// Charges a registration to a client.
  ///
  /// - Returns: The wait if the client, or its site, has registered too often; nil otherwise.
  private func wait(of client: IPAddress) -> TimeAmount? {
    guard let limiters else { return nil }
    return limiters.client.charge(limiters.client.bucket(of: client.subscriber))
      ?? client.site.flatMap { limiters.site.charge(limiters.site.bucket(of: $0)) }
  }

  @Sendable func update(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let (id, secret) = try Self.credentials(request, context)
    let body = try DeviceBody(try await fields(of: request, context), push)
    let network = proxies.address(of: request, context)?.neighbourhood
    let credentials = try await limited {
      try await store.updateDevice(id, secret: secret, body.registration, from: network, limits: push.limits)
    }
    guard let credentials else { throw ProblemError.notFound }
    return try .device { try $0.encode(credentials) }
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let (id, secret) = try Self.credentials(request, context)
    guard try await store.removeDevice(id, secret: secret) else { throw ProblemError.notFound }
    return .done
  }

  @Sendable func confirm(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let (id, secret) = try Self.credentials(request, context)
    var reader = FieldReader(try await fields(of: request, context))
    let code = reader.text("code", maximumBytes: 256, isRequired: true)
    reader.finish()
    guard reader.errors.isEmpty, let code else { throw ProblemError.invalidFields(reader.errors.list) }
    guard let isRight = try await store.confirmDevice(id, secret: secret, code: code) else {
      throw ProblemError.notFound
    }
    guard isRight else {
      throw ProblemError.invalidFields([
        FieldError(field: "code", rule: "must be the code of the last push with a code")
      ])
    }
    return .done
  }

  @Sendable func report(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let (id, secret) = try Self.credentials(request, context)
    let report = try DeviceReport(try await fields(of: request, context))
    guard try await store.report(id, secret: secret, report) else { throw ProblemError.notFound }
    return .done
  }

  private func fields(of request: Request, _ context: APIContext) async throws -> [String: JSONValue] {
    try await JSONBody.object(of: request, context: context, largest: Self.largestBody)
  }

  /// Carries out a registration. Its errors become those of the API.
  private func limited<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await ProblemError.refusingUnknownTopics(work)
    } catch is DeviceError {
      throw ProblemError.tooManyRequests(in: Self.crowdedTime)
    }
  }

  /// Reads the id in the path and the secret of a request.
  ///
  /// - Throws: `ProblemError`, 401 without a secret, 404 for a text that is no id.
  private static func credentials(_ request: Request, _ context: APIContext) throws -> (id: UUID, secret: String) {
    guard let secret = AuthorizationMiddleware.bearerToken(request.headers) else {
      throw ProblemError.unauthorized(detail: nil)
    }
    // The log has no ids of devices.
    guard let id = context.parameters.get("id").flatMap({ UUID(uuidString: $0) }) else { throw ProblemError.notFound }
    return (id, secret)
  }
}

extension Response {
  /// Makes a JSON response for one device, which a page of any origin may read.
  fileprivate static func device(
    status: HTTPResponse.Status = .ok, _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> Response {
    try json(status: status, headers: deviceFields, write)
  }

  fileprivate static var done: Response { Response(status: .noContent, headers: deviceFields) }

  private static var deviceFields: HTTPFields {
    var fields: HTTPFields = [.cacheControl: CachePolicy.notStored]
    CORS.add(to: &fields)
    return fields
  }
}
