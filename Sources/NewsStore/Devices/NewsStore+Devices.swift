public import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// The time between two messages with a code to a device, in seconds.
  private static let codeInterval: Double = 60

  /// Registers a device. A known address keeps its id and gets a new secret; the old one is void.
  ///
  /// A device with Web Push is pending until it returns the code of its first push, unless its address was active with the
  /// same keys.
  ///
  /// - Parameters:
  ///   - network: The network of the client, `ADDRESS/LENGTH`; nil if it is unknown. It is stored while the device is pending.
  ///   - now: The current time; nil for that of the database.
  /// - Returns: The credentials, and whether the address was unknown.
  /// - Throws: `StoreError.invalidFields`, `unknownTopics`, `outcomeUnknown`; `DeviceError`.
  public func registerDevice(
    _ registration: DeviceRegistration, from network: String? = nil, limits: DeviceLimits, at now: Date? = nil
  ) async throws -> (credentials: DeviceCredentials, isNew: Bool) {
    // The registrations of a network take turns with those of others.
    try await Self.onBehalf(of: network ?? "unknown network") {
      try await strangers.deviceStatements.run { try await register(registration, network, limits, at: now) }
    }
  }

  private func register(
    _ registration: DeviceRegistration, _ network: String?, _ limits: DeviceLimits, at now: Date?
  ) async throws -> (credentials: DeviceCredentials, isNew: Bool) {
    let (registration, address) = try await checked(registration)
    let known = try await database.query("SELECT id FROM devices AS d WHERE d.address_digest = \(address.digest)")
    if known.isEmpty { try await requireRoom(limits.total) }
    let (id, secret) = (UUID(), ConsoleSecret.random())
    let values = Self.values(registration, address, network)
    let (row, evicted) = try await database.transaction { transaction in
      try await Self.lock(address, in: transaction)
      let evicted =
        known.isEmpty ? try await Self.makePendingRoom(at: address.host, limits.perHost, in: transaction) : 0
      let rows = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        INSERT INTO devices AS d (id, secret_digest, \(unsafeSQL: Self.columnNames), state, created_at, registered_at,
            expires_at)
          SELECT \(id), \(secret.digest), \(query: values), \(Self.firstState(address)), c.now, c.now,
            c.now + \(query: ConsoleSession.interval(Device.lifetime))
          FROM clock AS c
        ON CONFLICT (address_digest) DO UPDATE SET secret_digest = excluded.secret_digest, \(query: Self.replacement),
          reported_epoch = NULL, reported_version = NULL, reported_at = NULL, reported_push = NULL
        RETURNING d.id, d.state, d.expires_at
        """)
      guard let row = rows.first else { throw StoreFault("a registration returned no row") }
      try await Self.finish(row, registration.provider, in: transaction, at: now)
      return (row, evicted)
    }
    let stored: UUID = try row.decode("id")
    noteDevices(added: (stored == id ? 1 : 0) - evicted)
    return (
      DeviceCredentials(id: stored, secret: secret.text, expires: try row.decode("expires_at")), stored == id
    )
  }

  /// Replaces the registration of a device, which renews it. The secret stays.
  ///
  /// If another device has the address, it is deleted. If the address or its keys are new, a device with Web Push is
  /// pending again.
  ///
  /// - Parameters:
  ///   - network: The network of the client, `ADDRESS/LENGTH`; nil if it is unknown.
  ///   - now: The current time; nil for that of the database.
  /// - Returns: The credentials; nil if the id is unknown or the secret is wrong.
  /// - Throws: `StoreError.invalidFields`, `unknownTopics`, `outcomeUnknown`.
  public func updateDevice(
    _ id: UUID, secret: String, _ registration: DeviceRegistration, from network: String? = nil, limits: DeviceLimits,
    at now: Date? = nil
  ) async throws -> DeviceCredentials? {
    try await asDevice(id, secret) { presented in
      let (registration, address) = try await checked(registration)
      return try await update(id, presented, address, Self.values(registration, address, network), limits, at: now)
    }
  }

  /// Runs the statements of a device. They check the secret again, because it may have been replaced meanwhile.
  ///
  /// - Returns: nil without a query of its own if the id is unknown or the secret is wrong.
  func asDevice<Value: Sendable>(
    _ id: UUID, _ secret: String, _ body: (ConsoleSecret) async throws -> Value?
  ) async throws -> Value? {
    guard let secret = ConsoleSecret(secret) else { return nil }
    let digest = try await strangers.devices.value(id)
    guard digest == secret.digest else { return nil }
    return try await Self.onBehalf(of: id.uuidString) {
      try await strangers.deviceStatements.run { try await body(secret) }
    }
  }

  private func update(
    _ id: UUID, _ secret: ConsoleSecret, _ address: DeviceAddress, _ values: PostgresQuery, _ limits: DeviceLimits,
    at now: Date?
  ) async throws -> DeviceCredentials? {
    let updated = try await database.transaction { transaction -> (credentials: DeviceCredentials, removed: Int)? in
      try await Self.lock(address, in: transaction)
      let found = try await transaction.query(
        """
        SELECT d.address_digest FROM devices AS d
        WHERE d.id = \(id) AND d.secret_digest = \(secret.digest) FOR UPDATE
        """)
      guard let device = found.first else { return nil }
      var removed = 0
      if try device.decode("address_digest", as: Data.self) != address.digest {
        removed = try await Self.makePendingRoom(at: address.host, limits.perHost, sparing: id, in: transaction)
      }
      let answers = try await transaction.pipeline([
        "DELETE FROM devices AS d WHERE d.address_digest = \(address.digest) AND d.id <> \(id)",
        """
        WITH \(query: Self.clock(now)), excluded AS (
          SELECT c.now AS registered_at, c.now + \(query: ConsoleSession.interval(Device.lifetime)) AS expires_at,
            \(Self.firstState(address)) AS state, v.*
          FROM clock AS c CROSS JOIN (SELECT \(query: values)) AS v (\(unsafeSQL: Self.columnNames))
        )
        UPDATE devices AS d SET \(query: Self.replacement) FROM excluded WHERE d.id = \(id)
        RETURNING d.id, d.state, d.expires_at
        """,
      ])
      guard let row = answers[1].first else { throw StoreFault("the update of a locked device returned no row") }
      try await Self.finish(row, address.provider, in: transaction, at: now)
      removed += answers[0].affected
      return (DeviceCredentials(id: id, secret: secret.text, expires: try row.decode("expires_at")), removed)
    }
    if let updated { noteDevices(added: -updated.removed) }
    return updated?.credentials
  }

  /// Removes a device.
  ///
  /// - Returns: Whether there was one with the id and the secret.
  public func removeDevice(_ id: UUID, secret: String) async throws -> Bool {
    let removed = try await asDevice(id, secret) { secret in
      try await database.query("DELETE FROM devices WHERE id = \(id) AND secret_digest = \(secret.digest)").affected
    }
    guard let removed else { return false }
    if removed > 0 { noteDevices(added: -removed) }
    return removed > 0
  }

  /// Activates a device that returns the code of its first push. A repeat has no effect.
  ///
  /// - Returns: Whether the code is that of the last push with a code; nil if the id is unknown or the secret is wrong.
  public func confirmDevice(_ id: UUID, secret: String, code: String) async throws -> Bool? {
    // Another text is no code.
    let code = ConsoleSecret(code)?.digest
    return try await asDevice(id, secret) { secret in
      try await database.query(
        """
        WITH device AS (
          SELECT d.id, coalesce(d.confirmation = \(code), false) AS is_right FROM devices AS d
          WHERE d.id = \(id) AND d.secret_digest = \(secret.digest) FOR NO KEY UPDATE
        ), confirmed AS (
          UPDATE devices AS d SET state = 'active', network = NULL FROM device AS f WHERE d.id = f.id AND f.is_right
        )
        SELECT f.is_right FROM device AS f
        """
      ).first?.decode("is_right", as: Bool.self)
    }
  }

  /// Reads a device.
  ///
  /// - Returns: nil if the id is unknown.
  public func device(_ id: UUID) async throws -> Device? {
    try await database.query("SELECT \(query: Device.columns) FROM devices AS d WHERE d.id = \(id)").first
      .map(Device.init(row:))
  }

  // MARK: Statements

  /// The columns that a registration sets, in the order of `values`.
  private static let columnNames = """
    provider, kind, address, address_digest, host, p256dh, auth, app, environment, topics, languages, alerts, time_zone,
    quiet_from, quiet_to, network
    """

  private static func values(
    _ registration: DeviceRegistration, _ address: DeviceAddress, _ network: String?
  ) -> PostgresQuery {
    """
    \(registration.provider.rawValue)::text, \(registration.kind.rawValue)::text, \(address.text)::text,
      \(address.digest)::bytea, \(address.host)::text, \(address.keys?.p256dh)::bytea, \(address.keys?.auth)::bytea,
      \(registration.app)::text, \(address.environment?.rawValue)::text, \(registration.topics)::text[],
      \(registration.languages)::text[], \(registration.alerts)::boolean, \(registration.timeZone)::text,
      \((registration.quiet?.from).map { Int32($0) })::integer, \((registration.quiet?.to).map { Int32($0) })::integer,
      \(address.keys == nil ? nil : network)::text::cidr
    """
  }

  private static func firstState(_ address: DeviceAddress) -> String {
    address.keys == nil ? "active" : "pending"
  }

  /// The assignments to a device `d` that registers again with the values of a row `excluded`.
  private static let replacement: PostgresQuery = """
    state = CASE WHEN \(query: keepsState) THEN d.state ELSE excluded.state END,
      confirmation = CASE WHEN \(query: keepsState) THEN d.confirmation END,
      network = CASE WHEN \(query: keepsState) THEN NULL ELSE excluded.network END,
      provider = excluded.provider, kind = excluded.kind, address = excluded.address,
      address_digest = excluded.address_digest, host = excluded.host, p256dh = excluded.p256dh, auth = excluded.auth,
      app = excluded.app, environment = excluded.environment, topics = excluded.topics, languages = excluded.languages,
      alerts = excluded.alerts, time_zone = excluded.time_zone, quiet_from = excluded.quiet_from,
      quiet_to = excluded.quiet_to, registered_at = excluded.registered_at, expires_at = excluded.expires_at,
      token_error = NULL, token_error_at = NULL, token_errors = 0,
      accepted = d.accepted AND d.address_digest = excluded.address_digest
    """

  private static let keepsState: PostgresQuery = """
    d.state = 'active' AND (d.address_digest, d.p256dh, d.auth)
      IS NOT DISTINCT FROM (excluded.address_digest, excluded.p256dh, excluded.auth)
    """

  /// Has registrations of one address wait for each other. Otherwise an update could meet an address that was written since
  /// it has looked for it.
  private static func lock(_ address: DeviceAddress, in transaction: PostgresTransaction) async throws {
    let key = address.digest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    _ = try await transaction.query("SELECT pg_advisory_xact_lock(\(key))")
  }

  /// Makes room for one more device at a host that has not returned its code: deletes the oldest of the network that has most
  /// of them. So a client that fills the room only replaces its own, and all others are admitted.
  ///
  /// A network of IPv6 is compared by its first 48 bits before its 64, because sites receive that many networks (RFC 6177).
  ///
  /// - Parameter id: The device that moves to the host, which stays.
  /// - Returns: The number of deleted devices.
  private static func makePendingRoom(
    at host: String?, _ limit: Int, sparing id: UUID? = nil, in transaction: PostgresTransaction
  ) async throws -> Int {
    guard let host else { return 0 }
    let pending = try await transaction.query(
      """
      SELECT count(*) FROM (
        SELECT FROM devices AS d WHERE d.state = 'pending' AND d.host = \(host) AND d.id IS DISTINCT FROM \(id)
        LIMIT \(limit + maximumExcess)
      ) AS p
      """)
    let excess = try (pending.first?.decode(0, as: Int.self) ?? 0) - limit + 1
    guard excess > 0 else { return 0 }
    // A device that another transaction has locked is being confirmed, or makes room for another one.
    return try await transaction.query(
      """
      DELETE FROM devices WHERE id IN (
        SELECT d.id FROM devices AS d WHERE d.state = 'pending' AND d.id IN (
          SELECT p.id FROM (
            SELECT d.id, d.registered_at, count(*) OVER (PARTITION BY s.site) AS of_site,
              count(*) OVER (PARTITION BY d.network) AS of_network
            FROM devices AS d CROSS JOIN LATERAL (
              SELECT CASE family(d.network) WHEN 6 THEN set_masklen(d.network, 48) ELSE d.network END AS site
            ) AS s
            WHERE d.state = 'pending' AND d.host = \(host) AND d.id IS DISTINCT FROM \(id)
          ) AS p
          ORDER BY p.of_site DESC, p.of_network DESC, p.registered_at, p.id LIMIT \(excess)
        ) FOR UPDATE SKIP LOCKED)
      """
    ).affected
  }

  /// The number of devices above the limit, after concurrent registrations, that one registration makes up for at most.
  private static let maximumExcess = 16

  /// Has a pending device sent its code, once in a while. The messages that another device is owed follow it to its new
  /// provider.
  ///
  /// - Parameter row: The device after the registration.
  private static func finish(
    _ row: PostgresRow, _ provider: PushProvider, in transaction: PostgresTransaction, at now: Date?
  ) async throws {
    let id: UUID = try row.decode("id")
    let name = provider.rawValue
    guard try row.decode("state", as: String.self) == "pending" else {
      _ = try await transaction.pipeline([
        "UPDATE deliveries SET provider = \(name) WHERE device = \(id) AND provider <> \(name)",
        "UPDATE alert_deliveries SET provider = \(name) WHERE device = \(id) AND provider <> \(name)",
      ])
      return
    }
    _ = try await transaction.pipeline([
      """
      WITH \(query: clock(now))
      INSERT INTO deliveries AS o (device, provider, due_at) SELECT \(id), \(name), c.now FROM clock AS c
      ON CONFLICT (device) DO UPDATE SET provider = excluded.provider, push = NULL, lease = NULL, attempts = 0,
        failing_since = NULL, due_at = CASE WHEN o.lease IS NULL
          THEN greatest(excluded.due_at, o.sent[cardinality(o.sent)] + make_interval(secs => \(codeInterval)))
          ELSE excluded.due_at + make_interval(secs => \(codeInterval)) END
      """,
      "DELETE FROM alert_deliveries WHERE device = \(id)",
    ])
  }
}
