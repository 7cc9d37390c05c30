import CLibPQ
import Dispatch
import Foundation
import Synchronization

/// Opens the connection step by step (PostgreSQL 15, 34.1, `PQconnectPoll`).
extension PostgresConnection {
  nonisolated func open() async throws {
    let attempt = ConnectAttempt()
    do {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          attempt.begin(continuation, timeout: Self.nanoseconds(configuration.connectTimeout))
          onQueue { $0.beginConnecting(attempt) }
        }
      } onCancel: {
        attempt.finish(.failure(.cancelled))
      }
      try await configureSession()
    } catch {
      // Not awaited, because the resolver may be blocking the queue.
      onQueue { $0.close(with: PostgresError(.connectionFailed, "the connection attempt was abandoned")) }
      throw addingServers(to: error)
    }
  }

  /// Sets the session's settings, except behind a pooler, where other clients share the session.
  private nonisolated func configureSession() async throws {
    guard configuration.preparesStatements else { return }
    var settings = [
      "idle_in_transaction_session_timeout = \(Self.nanoseconds(configuration.idleTransactionTimeout) / 1_000_000)",
      // With these, the server too notices within a minute that this machine has vanished, not after the hours that TCP
      // allows.
      "tcp_keepalives_idle = \(Self.keepaliveIdle)",
      "tcp_keepalives_interval = \(Self.keepaliveInterval)",
      "tcp_keepalives_count = \(Self.keepaliveCount)",
      "tcp_user_timeout = \((Self.keepaliveIdle + Self.keepaliveInterval * Self.keepaliveCount) * 1000)",
    ]
    let limit = Self.nanoseconds(configuration.statementTimeout)
    if limit > 0 { settings.append("statement_timeout = \((limit + Self.serverTimeoutMargin) / 1_000_000)") }
    try await execute(script: settings.map { "SET \($0)" }.joined(separator: "; "))
  }

  /// The TCP keepalive settings: the seconds of silence before the first probe, the seconds between probes, and the
  /// maximum number of unanswered probes.
  private static let keepaliveIdle = 30
  private static let keepaliveInterval = 10
  private static let keepaliveCount = 3

  private func beginConnecting(_ attempt: ConnectAttempt) {
    if isClosed || !attempt.isPending { return }
    guard let pointer = startConnecting() else {
      attempt.finish(.failure(PostgresError(.connectionFailed, "out of memory")))
      return
    }
    handle = ConnectionHandle(pointer, loop: loop, logger: logger)
    if PQstatus(pointer) == CONNECTION_BAD { return connectFailed(attempt, pointer) }
    let hosts = hostCount(pointer)
    if hosts > 1 {
      let timeout = Self.nanoseconds(configuration.connectTimeout) / UInt64(hosts)
      abandonHost(attempt, currentHost(pointer), after: timeout)
    }
    awaitSocket(attempt, for: PGRES_POLLING_WRITING)
  }

  /// Starts connecting. Name resolution blocks this queue and nothing else.
  private func startConnecting() -> OpaquePointer? {
    // A later keyword overrides an earlier one. First come defaults, then the caller's string (expanded by libpq in the
    // place of `dbname`), then the encoding that the decoding of values relies on.
    let parameters: KeyValuePairs = [
      "fallback_application_name": configuration.applicationName,
      "keepalives_idle": "\(Self.keepaliveIdle)",
      "keepalives_interval": "\(Self.keepaliveInterval)",
      "keepalives_count": "\(Self.keepaliveCount)",
      "dbname": configuration.connectionString,
      "client_encoding": "UTF8",
    ]
    return withCStrings(parameters.map(\.key)) { keywords in
      withCStrings(parameters.map(\.value)) { values in
        PQconnectStartParams(keywords.baseAddress, values.baseAddress, 1)
      }
    }
  }

  private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { pointers in
      body(pointers)
    }
  }

  /// Returns the number of hosts in the connection string. libpq's own timeout, which is per host, applies to its
  /// blocking functions only.
  private func hostCount(_ pointer: OpaquePointer) -> Int {
    guard let options = PQconninfo(pointer) else { return 1 }
    defer { PQconninfoFree(options) }
    var option = options
    var commas = 0
    while let keyword = option.pointee.keyword {
      let name = String(cString: keyword)
      if name == "host" || name == "hostaddr", let value = option.pointee.val {
        commas = max(commas, String(cString: value).count { $0 == "," })
      }
      option += 1
    }
    return commas + 1
  }

  private func currentHost(_ pointer: OpaquePointer) -> String {
    [PQhost(pointer), PQhostaddr(pointer), PQport(pointer)].map { $0.map { String(cString: $0) } ?? "" }
      .joined(separator: " ")
  }

  /// Makes libpq try the next host when one has used up its share of the timeout. Shutting down its socket makes the
  /// attempt fail.
  private func abandonHost(_ attempt: ConnectAttempt, _ host: String, after timeout: UInt64) {
    let check = handler { connection in
      guard attempt.isPending, let pointer = connection.handle?.pointer else { return }
      let currentHost = connection.currentHost(pointer)
      if currentHost == host { SocketHandle(duplicating: PQsocket(pointer))?.shutDown() }
      connection.abandonHost(attempt, currentHost, after: timeout)
    }
    executor.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(timeout)), execute: check)
  }

  private func awaitSocket(
    _ attempt: ConnectAttempt, for direction: PostgresPollingStatusType
  ) {
    let isReading = direction == PGRES_POLLING_READING
    connectWatch = handle?.watchOnce(
      for: isReading ? .readable : .writable, queueHandler { $0.continueConnecting(attempt) })
    if connectWatch == nil {
      attempt.finish(
        .failure(PostgresError(.connectionFailed, "libpq has no socket, or the process has no file descriptors left")))
    }
  }

  private func continueConnecting(_ attempt: ConnectAttempt) {
    // Ignores an event that was already pending when its watch was released.
    guard let pointer = handle?.pointer, connectWatch.take() != nil else { return }
    if !attempt.isPending { return }
    switch PQconnectPoll(pointer) {
    case PGRES_POLLING_OK: connected(attempt, pointer)
    case PGRES_POLLING_READING: awaitSocket(attempt, for: PGRES_POLLING_READING)
    case PGRES_POLLING_WRITING: awaitSocket(attempt, for: PGRES_POLLING_WRITING)
    default: connectFailed(attempt, pointer)
    }
  }

  private func connected(_ attempt: ConnectAttempt, _ pointer: OpaquePointer) {
    PQsetnonblocking(pointer, 1)
    handle?.duplicateSocket()
    guard let handle, let socket = handle.socket else { return connectFailed(attempt, pointer) }
    polledSocket.withLock { $0 = socket }
    serverProcess.store(PQbackendPID(pointer), ordering: .relaxed)
    activity.store(.idle, ordering: .releasing)
    watchSocket()
    attempt.finish(.success(()))
  }

  private func connectFailed(_ attempt: ConnectAttempt, _ pointer: OpaquePointer) {
    var error = PostgresError(.connectionFailed, connection: pointer)
    // libpq's message about a malformed string quotes parts of it, possibly of the password.
    if ConnectionOptions(configuration.connectionString) == nil { error.message = PostgresError.malformedString }
    attempt.finish(.failure(error))
  }

  /// Adds the servers of the connection string to an error, for its message.
  private nonisolated func addingServers(to error: any Error) -> any Error {
    guard var error = error as? PostgresError, error.code != .cancelled else { return error }
    error.server = ConnectionOptions(configuration.connectionString)?.servers.joined(separator: ", ")
    return error
  }
}
