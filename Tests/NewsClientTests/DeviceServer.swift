import FaultServer
import Foundation
import News
import NewsClient
import Synchronization

/// The part of a server that registers devices, beside a feed.
final class DeviceServer: Sendable {
  /// A device.
  struct Device {
    var secret: String
    var registration: DeviceRegistration
    var reports: [DeviceReport] = []
    var isConfirmed = false
  }

  private struct State {
    var devices: [String: Device] = [:]
    var requests: [String] = []
    var faults: [FaultResponse] = []
  }

  static let registration = DeviceRegistration(provider: .fcm, token: "device-token-7")

  private let feed: FaultFeed
  private let state = Mutex(State())

  init(_ feed: FaultFeed) { self.feed = feed }

  /// Runs the body with a client with one item and the part of its server that registers devices.
  static func with(_ body: (Installation, DeviceServer, NewsFetcher) async throws -> Void) async throws {
    try await Installation.with { installation in
      let devices = DeviceServer(installation.feed)
      installation.server.respond(devices.respond)
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      try await body(installation, devices, client)
    }
  }

  /// The devices by id.
  var devices: [String: Device] { state.withLock(\.devices) }
  /// The only device.
  var device: Device? { state.withLock { $0.devices.count == 1 ? $0.devices.first?.value : nil } }

  /// Returns the methods and paths of requests since the last call, with `ID` for ids.
  func requests() -> [String] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// Adds responses to the next requests.
  func answer(_ responses: FaultResponse...) { state.withLock { $0.faults += responses } }

  /// Forgets all devices.
  func forget() { state.withLock { $0.devices = [:] } }

  @Sendable func respond(_ request: FaultRequest) -> FaultResponse {
    guard request.path.hasPrefix("/v1/devices") else { return feed.respond(request) }
    let parts = request.path.split(separator: "/").map(String.init)
    let id = parts.count > 2 ? parts[2] : nil
    return state.withLock { state in
      let name = parts.dropFirst(3).first.map { " \($0)" } ?? ""
      state.requests.append(request.method + name)
      if !state.faults.isEmpty { return state.faults.removeFirst() }
      guard let id else { return register(request, &state) }
      let isKnown = state.devices[id].map { request["Authorization"] == "Bearer \($0.secret)" } ?? false
      guard isKnown else { return Self.problem(404) }
      return change(request, id, parts.count > 3 ? parts[3] : "", &state)
    }
  }

  private func register(_ request: FaultRequest, _ state: inout State) -> FaultResponse {
    guard let registration = try? NewsJSON.decode(DeviceRegistration.self, from: request.body) else {
      return Self.problem(422)
    }
    let (id, secret) = (UUID().uuidString.lowercased(), "secret-\(UUID().uuidString)")
    state.devices[id] = Device(secret: secret, registration: registration)
    return Self.credentials(id, secret, status: 201)
  }

  private func change(_ request: FaultRequest, _ id: String, _ part: String, _ state: inout State) -> FaultResponse {
    switch (request.method, part) {
    case ("PUT", ""):
      guard let registration = try? NewsJSON.decode(DeviceRegistration.self, from: request.body) else { break }
      state.devices[id]?.registration = registration
      return Self.credentials(id, state.devices[id]?.secret ?? "", status: 200)
    case ("PUT", "state"):
      guard let report = try? NewsJSON.decode(DeviceReport.self, from: request.body) else { break }
      state.devices[id]?.reports.append(report)
      return FaultResponse(status: 204)
    case ("PUT", "confirmation"):
      guard String(decoding: request.body, as: UTF8.self) == #"{"code":"right"}"# else { return Self.problem(422) }
      state.devices[id]?.isConfirmed = true
      return FaultResponse(status: 204)
    case ("DELETE", ""):
      state.devices[id] = nil
      return FaultResponse(status: 204)
    default: break
    }
    return Self.problem(422)
  }

  private static func credentials(_ id: String, _ secret: String, status: Int) -> FaultResponse {
    .json(#"{"expires":"2027-02-24T06:00:00.000Z","id":"\#(id)","secret":"\#(secret)"}"#, status: status)
  }

  private static func problem(_ status: Int) -> FaultResponse {
    FaultResponse(
      status: status, headers: [("Content-Type", "application/problem+json")],
      body: Data(#"{"type":"/problems/x","title":"x","status":\#(status)}"#.utf8))
  }
}

extension NewsFetcher {
  /// Registers the device with Web Push.
  func registerWebPush() async throws {
    let subscription = try await pushSubscription(endpoint: "https://push.example/1")
    try await registerDevice(DeviceRegistration(provider: .webpush, kind: .unifiedpush, subscription: subscription))
  }
}
