import BackgroundFetch
public import Foundation
import GRDB
import HTTPTransfer
public import News

extension NewsFetcher {
  /// The maximum time for requests about the registration in a wake, in seconds.
  private static let maximumDeviceTime = 10.0
  /// The part of a wake's time that these requests leave, in seconds, so that the result of the fetch is in time.
  private static let reservedTime = 6.0

  /// Fetches which push services the server uses, and its public key for Web Push.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  public func pushOffer() async throws -> PushOffer { try await limited { [server] in try await server.pushOffer() } }

  /// The registration of this device for pushes; nil if there is none.
  public var device: RegisteredDevice? {
    guard let device = registrar.device, !device.isRemoved else { return nil }
    return device.described(topics: configuration.feed.topics)
  }

  /// Registers this device for pushes, or changes its registration.
  ///
  /// Call it with each launch, as the address of a device may change. A registration that the server already has causes no
  /// request. It is renewed weekly by scheduled wakes and by pushes. The id and the secret that the server returns are kept
  /// in the folder of the store, in a file that only the user can read. The counterpart of
  /// `UIApplication.registerForRemoteNotifications()`.
  ///
  ///     var registration = DeviceRegistration(provider: .fcm, token: "fX3c…")
  ///     registration.alerts = true
  ///     try await news.registerDevice(registration)
  ///
  /// - Parameter registration: The address of the device, and the pushes that it wants. Without topics, they are those of
  ///   the followed feed.
  /// - Throws: `FetchError`: `rejected` if the server refuses the registration. If the server cannot be reached, the
  ///   registration follows with the next wake. `CancellationError`.
  public func registerDevice(_ registration: DeviceRegistration) async throws {
    try await limited { [registrar] in try await registrar.register(registration) }
  }

  /// Returns a subscription of Web Push for an endpoint of a UnifiedPush distributor, with keys of this store.
  ///
  /// The keys are made once. ``decrypt(_:)`` uses them.
  ///
  ///     let subscription = try await news.pushSubscription(endpoint: "https://ntfy.example/up?id=7")
  ///     try await news.registerDevice(
  ///       DeviceRegistration(provider: .webpush, kind: .unifiedpush, subscription: subscription))
  ///
  /// - Throws: `FetchError` with `storage`; `CancellationError`.
  public func pushSubscription(endpoint: String) async throws -> WebPushSubscription {
    WebPushSubscription(endpoint: endpoint, keys: try await registrar.makeReceiver().keys)
  }

  /// Decrypts a message of Web Push for this device (RFC 8291).
  ///
  /// - Parameter message: The message as the distributor has passed it on.
  /// - Returns: The payload for ``RemoteNotification/init(payload:)``.
  /// - Throws: ``WebPushReceiver/Failure``.
  public func decrypt(_ message: Data) throws -> Data {
    guard let receiver = try registrar.receiver else {
      throw WebPushReceiver.Failure(description: "this store has no keys for encrypted messages")
    }
    return try receiver.decrypt(message)
  }

  /// Ends pushes for this device, and deletes its address at the server. If the server cannot be reached, the next wake tries
  /// again. The counterpart of `UIApplication.unregisterForRemoteNotifications()`.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  public func removeDevice() async throws { try await limited { [registrar] in try await registrar.remove() } }

  /// Ends background fetches and pushes, because the user has signed out. The stored items remain.
  ///
  /// - Throws: `FetchError`: `storage` if nothing has changed; otherwise background fetches have ended, but the server has not
  ///   deleted the registration. `CancellationError`.
  public func signOut() async throws {
    try updateSchedule { $0.signOut() }
    try await removeDevice()
  }

  /// Deletes the registration of a user who has signed out without a network, if the last attempt was long enough ago.
  package func removeSignedOutDevice() async {
    guard registrar.hasSignedOut, registrar.isDue else { return }
    await attempt("delete the registration for pushes", within: Self.maximumDeviceTime) {
      try await self.registrar.maintain()
    }
  }

  /// Returns the seconds for requests about the registration after a wake, 0...10.
  func timeLimit(since wake: FetchInstant) -> Double {
    if application.currentState == .foreground { return Self.maximumDeviceTime }
    let remaining = FetchBudget.total / .seconds(1) - clock.now.seconds(since: wake)
    return min(Self.maximumDeviceTime, remaining - 1)
  }

  /// Does what is due about the registration, at the end of a fetch. A failure is logged, and changes no result. The report
  /// about a push is sent by its handler, and by scheduled wakes.
  ///
  /// - Parameter result: The result of the fetch. After a failure the registration is left alone, because the address of the
  ///   server may be wrong.
  func maintainDevice(within budget: FetchBudget, after result: FetchResult) async {
    func limit() -> Double {
      let remaining = budget.timeRemaining.map { $0 / .seconds(1) - Self.reservedTime }
      return min(Self.maximumDeviceTime, remaining ?? Self.maximumDeviceTime)
    }
    if result != .failed, registrar.isDue {
      await attempt("renew the registration for pushes", within: limit()) { try await self.registrar.maintain() }
    }
    if budget.reason == .scheduled { await sendReport(within: limit()) }
  }

  /// Sends the code of a first push.
  func confirm(_ code: String, wake: FetchInstant) async {
    await attempt("confirm the registration for pushes", within: timeLimit(since: wake)) {
      try await self.registrar.confirm(code: code)
    }
  }

  /// Sends the report that a push has asked for, once there is a result. If that fails, the next wake tries again.
  func sendReport(within seconds: Double) async {
    guard let report = try? store.read({ try local.pushHistory($0).report }), let result = report.result else { return }
    await attempt("report a push", within: seconds) {
      do {
        try await self.registrar.report(push: report.push, result: result)
      } catch let error as FetchError where error.code == .rejected {
        // The server would refuse the report again.
      }
      try self.store.write { db in
        var history = try self.local.pushHistory(db)
        if history.report == report { history.report = nil }
        try self.local.save(history, db)
      }
    }
  }

  /// Records that a push without a code has arrived.
  func pushArrived(wake: FetchInstant) async {
    await attempt("record the confirmation of the registration for pushes", within: timeLimit(since: wake)) {
      try await self.registrar.pushArrived()
    }
  }

  /// Does some work that the app has asked for within ``Configuration/foregroundTimeout``.
  private func limited<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    do {
      return try await withTimeLimit(configuration.foregroundTimeout, clock: clock, work)
    } catch let error as TimeLimitExceeded {
      throw FetchError(.unreachable, "\(configuration.feed.server): \(error)")
    }
  }

  /// Does some work within a time limit. A failure is logged.
  private func attempt(_ name: String, within seconds: Double, _ work: @escaping @Sendable () async throws -> Void)
    async
  {
    guard seconds > 0 else { return }
    await withTaskGroup { group in
      group.addTask { [log] in
        do { try await work() } catch is CancellationError {
          log("cannot \(name): there was no response in time")
        } catch {
          log("cannot \(name): \(error)")
        }
      }
      group.addTask { [clock] in try? await clock.sleep(for: .seconds(seconds)) }
      await group.next()
      group.cancelAll()
    }
  }
}
