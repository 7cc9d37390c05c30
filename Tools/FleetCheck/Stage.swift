import Fleet
import Foundation
import Logging
import NIOHTTP1
import News
import PostgresClient

/// The processes, the phones and the newsroom of a plan.
struct Stage {
  private let plan: FleetPlan
  private let processes: Processes
  /// The requests of phones.
  private let traffic = Traffic(connections: 200)
  /// The requests of the newsroom and of the preparation, which are not counted.
  private let preparation = Traffic(connections: 8)
  private let database: PostgresPool
  private let desk: Newsdesk
  private let delays = DelayRecord()

  /// The wait for the last requests of caches, and for the lines of the logs.
  private static let settlingTime = Duration.seconds(3)

  init(_ plan: FleetPlan, _ processes: Processes) {
    (self.plan, self.processes) = (plan, processes)
    database = PostgresPool(
      configuration: PostgresConfiguration(connectionString: processes.database), pool: PostgresPoolConfiguration(),
      logger: Logger(label: "fleet-check"))
    desk = Newsdesk(plan, servers: processes.server, key: processes.key, traffic: preparation)
  }

  /// Plays the whole plan.
  ///
  /// - Returns: The counts of the processes.
  func play() async throws -> Observation {
    let result: Result<Observation, any Error>
    do { result = .success(try await observed()) } catch { result = .failure(error) }
    await database.shutdown()
    try await traffic.shutdown()
    try await preparation.shutdown()
    return try result.get()
  }

  private func observed() async throws -> Observation {
    try await desk.prepare()
    let players = try await players()
    let edges = try processes.edgeLog.map(FileTail.init)
    let proxy = try FileTail(processes.proxyLog)
    let servedBefore = try await served()
    let messagesBefore = try MockTotals(processes.mocks).accepted
    try await Statements.reset(database)
    // nginx counts the lifetimes of responses in whole seconds, and so does the simulation.
    let now = Date().timeIntervalSince1970
    let start = ContinuousClock.now + .seconds(now.rounded(.up) + 1 - now)
    try await withThrowingTaskGroup { group in
      group.addTask { try await desk.play(from: start) }
      for player in players { group.addTask { await player.play(from: start) } }
      try await group.waitForAll()
    }
    try await Task.sleep(until: start + .seconds(plan.duration))
    var observation = Observation()
    observation.statements = try await Statements.read(database)
    try await Task.sleep(for: Self.settlingTime)
    observation.edges = try edges.map { try AccessLog($0.read()) }.reduce(AccessLog(), +)
    observation.proxy = try AccessLog(proxy.read())
    observation.served = try await served() - servedBefore
    observation.messages = try MockTotals(processes.mocks).accepted - messagesBefore
    observation.traffic = traffic.counts
    observation.delay = delays.percentile
    return observation
  }

  /// Returns the public requests that the servers have answered so far.
  private func served() async throws -> Int {
    var sum = 0
    for server in processes.server { sum += try await ServerMetrics(of: server, preparation).requests }
    return sum
  }

  /// Creates the phones, and registers those that were registered before the day.
  private func players() async throws -> [PhonePlayer] {
    let registrations = Registrations(origin: processes.pushOrigin)
    var players: [PhonePlayer] = []
    for (number, phone) in plan.phones.enumerated() {
      let registration = try registrations.body(of: phone, number)
      var device: DeviceCredentials?
      if let registration, !phone.isInstalledToday { device = try await register(registration) }
      players.append(
        PhonePlayer(
          phone,
          .init(edge: processes.edge[phone.edge % processes.edge.count], desk: desk, traffic: traffic, delays: delays),
          token: await desk.known(phone.topics, after: phone.known), registration: registration, device: device))
    }
    try await registrations.confirmAll(database)
    return players
  }

  private func register(_ registration: Data) async throws -> DeviceCredentials {
    let response = try await preparation.send(.POST, processes.server[0] + "/v1/devices", json: registration)
    guard response.status == 201 else {
      throw Traffic.UnexpectedStatus(
        status: response.status, target: "/v1/devices", body: String(decoding: response.body, as: UTF8.self))
    }
    return try NewsJSON.decode(DeviceCredentials.self, from: response.body)
  }
}

extension Phone {
  /// Whether the app is installed during the day.
  fileprivate var isInstalledToday: Bool { actions.contains { $0.kind == .install } }
}
