import AsyncHTTPClient
import Fleet
import Foundation
import NIOCore
import NIOHTTP1
import News

/// A phone of the plan, which sends the requests of the client (`Synchronization`, `DeviceRegistrar`).
actor PhonePlayer {
  /// The addresses of the parts that a phone uses.
  struct Surroundings: Sendable {
    /// The address of the edge.
    var edge: String
    var desk: Newsdesk
    var traffic: Traffic
    var delays: DelayRecord
  }

  private let phone: Phone
  private let surroundings: Surroundings
  private let registration: Data?
  private var token: SyncToken
  private var device: DeviceCredentials?

  /// - Parameters:
  ///   - token: The token of the phone before the day.
  ///   - registration: The body of its registration for pushes; nil for a phone without pushes.
  ///   - device: Its credentials, if it is registered.
  init(
    _ phone: Phone, _ surroundings: Surroundings, token: SyncToken, registration: Data?, device: DeviceCredentials?
  ) {
    (self.phone, self.surroundings, self.token) = (phone, surroundings, token)
    (self.registration, self.device) = (registration, device)
  }

  /// Carries out the actions at their times.
  ///
  /// - Parameter start: The beginning of the day.
  func play(from start: ContinuousClock.Instant) async {
    await withDiscardingTaskGroup { group in
      for action in phone.actions {
        let due = start + .seconds(action.time)
        guard (try? await Task.sleep(until: due)) != nil else { return }
        surroundings.delays.record(.now - due)
        switch action.kind {
        case .longPoll(let seconds): group.addTask { await self.hold(until: due + .seconds(seconds), self.longPoll) }
        case .events(let seconds): group.addTask { await self.hold(until: due + .seconds(seconds), self.followEvents) }
        // The traffic counts the failures.
        default: try? await carryOut(action.kind)
        }
      }
    }
  }

  private func carryOut(_ kind: Action.Kind) async throws {
    switch kind {
    case .wake, .open: try await poll()
    case .push(let publications): try await poll(at: surroundings.desk.token(of: phone.topics, after: publications))
    case .install:
      try await start()
      if registration != nil {
        _ = try await send(.GET, "/v1/push")
        try await register()
      }
    case .update:
      try await start()
      try await renew()
    case .renew: try await renew()
    case .report: try await report()
    case .longPoll, .events: break
    }
  }

  // MARK: News

  /// Requests the changes since the token, until there are no more.
  ///
  /// - Parameter at: The token of a push or an event.
  private func poll(at: SyncToken? = nil) async throws {
    if let at, at.version <= token.version { return }
    while try await requestChanges(at.map { "&at=\($0)" } ?? "") {}
  }

  /// - Returns: Whether there are more changes.
  private func requestChanges(_ parameters: String) async throws -> Bool {
    let target = "/v1/changes?\(topicsParameter)limit=200&since=\(token)\(parameters)"
    let response = try await send(.GET, target, [("If-None-Match", "\"\(token)\"")])
    if response.status == 304 { return false }
    guard response.status == 200, let new = response.headers.first(name: "Sync-Token").flatMap({ SyncToken($0) }) else {
      throw Traffic.UnexpectedStatus(status: response.status, target: target, body: "")
    }
    // Another request of this phone, or an outdated cache, may have a token of an earlier version.
    if new.version < token.version { return false }
    token = new
    return new.isPartial
  }

  /// Requests the first page, as a client with an empty store.
  private func start() async throws {
    let response = try await send(.GET, "/v1/items?\(topicsParameter)limit=100")
    if let new = response.headers.first(name: "Sync-Token").flatMap({ SyncToken($0) }) { token = new }
  }

  private var topicsParameter: String {
    phone.topics.isEmpty ? "" : "topics=\(phone.topics.joined(separator: ","))&"
  }

  /// Runs a body that holds connections, and cancels it at a time.
  private func hold(until end: ContinuousClock.Instant, _ body: @escaping @Sendable () async throws -> Void) async {
    await withTaskGroup { group in
      group.addTask { try? await body() }
      group.addTask { try? await Task.sleep(until: end) }
      await group.next()
      group.cancelAll()
    }
  }

  private func longPoll() async throws {
    while !Task.isCancelled { _ = try await requestChanges("&wait=50") }
  }

  private func followEvents() async throws {
    let path = phone.topics.isEmpty ? "/v1/events" : "/v1/events?topics=\(phone.topics.joined(separator: ","))"
    let stream = try await surroundings.traffic.events(surroundings.edge + path, after: token.description)
    var text = ""
    for try await bytes in stream {
      text += String(buffer: bytes)
      // The last part is not complete.
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      text = String(lines.last ?? "")
      for line in lines.dropLast() where line.hasPrefix("data:") {
        let event = try NewsJSON.decode(ChangeEvent.self, from: Data(line.dropFirst("data:".count).utf8))
        try await poll(at: event.token)
      }
    }
  }

  // MARK: Pushes

  private func register() async throws {
    let response = try await send(.POST, "/v1/devices", json: registration)
    guard response.status == 201 else { return }
    device = try NewsJSON.decode(DeviceCredentials.self, from: response.body)
    try await report()
  }

  private func renew() async throws {
    guard let device else { return }
    _ = try await send(.PUT, Self.path(device), Self.authorization(device), json: registration)
    try await report()
  }

  private func report() async throws {
    guard let device else { return }
    let report = try NewsJSON.encode(DeviceReport(token: token))
    _ = try await send(.PUT, Self.path(device) + "/state", Self.authorization(device), json: report)
  }

  private static func path(_ device: DeviceCredentials) -> String { "/v1/devices/\(device.id.uuidString.lowercased())" }

  private static func authorization(_ device: DeviceCredentials) -> [(String, String)] {
    [("Authorization", "Bearer \(device.secret)")]
  }

  private func send(
    _ method: HTTPMethod, _ target: String, _ fields: [(String, String)] = [], json: Data? = nil
  ) async throws -> Traffic.Response {
    try await surroundings.traffic.send(method, surroundings.edge + target, fields, json: json)
  }
}
