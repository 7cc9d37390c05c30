import BackgroundFetch
import Foundation
import HTTPTransfer
import News

/// Keeps the registration of this device for pushes at its server.
///
/// The registration is in a file of its own, which survives the loss of the cache. It has the secret and the address of the
/// device, which no log and no error contains.
struct DeviceRegistrar: Sendable {
  /// The age at which a registration is renewed, in seconds: a week.
  static let maximumAge = 604_800.0
  /// The minimum time between two attempts to renew a registration, in seconds, unless the app asks for one. The next wake
  /// sends a code again, because the server takes it within an hour only.
  static let retryInterval = 3600.0
  /// The minimum time between two attempts to delete a registration, in seconds. Its secret should not outlive the sign-out.
  static let removalInterval = 60.0
  /// The maximum wait for another process that changes the registration.
  private static let lockTimeout = Duration.seconds(10)

  private let local: LocalFeed
  private let server: NewsServer
  private let file: DurableFile
  private let keyFile: DurableFile
  private let lock: FetchLock
  private let log: @Sendable (String) -> Void

  init(_ local: LocalFeed, folder: URL, server: NewsServer, log: @escaping @Sendable (String) -> Void) {
    func file(_ name: String) -> URL { folder.appending(path: name, directoryHint: .notDirectory) }
    (self.local, self.server, self.log) = (local, server, log)
    self.file = DurableFile(url: file("device.json"))
    keyFile = DurableFile(url: file("push-keys.json"))
    lock = FetchLock(path: file("device.lock").path(percentEncoded: false))
  }

  /// The stored registration; nil if there is none, or if it cannot be read.
  var device: StoredDevice? { (try? stored()) ?? nil }

  /// Returns the stored registration; nil if there is none. A damaged one is renamed: the app registers again when it is
  /// launched.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  private func stored() throws -> StoredDevice? {
    do { return try file.read(StoredDevice.self) } catch is DecodingError {
      if file.renameDamaged() != nil { log("the registration for pushes cannot be read; it has to be made again") }
      return nil
    }
  }

  /// Whether ``maintain()`` has something to do.
  var isDue: Bool { device.map(isDue) ?? false }

  /// Whether the user has signed out, but the server has not deleted the registration yet.
  var hasSignedOut: Bool { device?.isRemoved == true }

  /// The keys of the Web Push subscription of this device; nil if it has none.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  var receiver: WebPushReceiver? {
    get throws { try keyFile.readIntact(WebPushReceiver.self) }
  }

  /// Returns the keys of the Web Push subscription, and makes them if there are none.
  ///
  /// - Throws: `FetchError` with `storage`.
  func makeReceiver() async throws -> WebPushReceiver {
    try await locked {
      if let receiver = try receiver { return receiver }
      let new = WebPushReceiver()
      try keyFile.write(new)
      return new
    }
  }

  /// Registers the device, or changes its registration. A registration that the server has, and that is not due, causes no
  /// request.
  ///
  /// If the server cannot be reached, the registration is kept, and follows with the next wake.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func register(_ registration: DeviceRegistration) async throws {
    try await locked {
      let previous = try stored()
      var device = previous ?? StoredDevice(server: server.url, wanted: registration)
      (device.wanted, device.isRemoved) = (registration, false)
      do {
        try await renew(&device)
      } catch let error as FetchError where error.code == .rejected {
        // The server would refuse the registration again with each wake, and the previous one would not be renewed.
        if let previous, previous.credentials != nil {
          var kept = previous.wanted == registration ? previous.withAcceptedRegistration : previous
          // The server may have forgotten the device meanwhile.
          if device.credentials == nil { kept.forget() }
          if kept.credentials == nil, kept.wanted == registration { try file.remove() } else { try file.write(kept) }
        } else {
          try file.remove()
        }
        throw error
      }
    }
  }

  /// Does what is due: renews or removes the registration, or sends its code.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func maintain() async throws {
    guard let device, isDue(device) else { return }
    try await locked {
      guard var device = try stored(), isDue(device) else { return }
      if device.isRemoved { return try await remove(&device) }
      if let code = device.code { try await confirm(&device, code) }
      guard needsRenewal(device) else { return }
      do {
        try await renew(&device)
      } catch let error as FetchError where error.code == .rejected {
        if device.accepted != nil, device.server == server.url { try file.write(device.withAcceptedRegistration) }
        throw error
      }
    }
  }

  /// Removes the registration at the server and here. If the server cannot be reached, it is removed with the next wake.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func remove() async throws {
    try await locked {
      try keyFile.remove()
      guard var device = try stored() else { return }
      device.isRemoved = true
      try await remove(&device)
    }
  }

  /// Sends the code of the first push. The push may arrive before the response to the registration, which is awaited.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func confirm(code: String) async throws {
    try await locked {
      // The server would begin to send pushes to a user who has signed out.
      guard var device = try stored(), !device.isRemoved else { return }
      try await confirm(&device, code)
    }
  }

  /// Records that an ordinary push has arrived, which the server sends to confirmed devices only.
  ///
  /// - Throws: `FetchError`, `CancellationError`.
  func pushArrived() async throws {
    guard let device, device.credentials != nil, !device.isConfirmed else { return }
    try await locked {
      guard var device = try stored(), device.credentials != nil, !device.isConfirmed else { return }
      (device.isConfirmed, device.code) = (true, nil)
      try file.write(device)
    }
  }

  /// Reports the token of the stored items.
  ///
  /// - Parameters:
  ///   - push: The push that has woken the device; nil if none has.
  ///   - result: The result of the fetch; nil if there was none.
  /// - Throws: `FetchError`, `CancellationError`.
  func report(push: UUID?, result: FetchResult?) async throws {
    guard let device, let credentials = device.credentials, device.server == server.url, !device.isRemoved,
      let token = try local.token
    else { return }
    let report = DeviceReport(token: token, push: push, result: result.map(DeviceReport.Result.init))
    if try await server.report(report, of: credentials) { return }
    // The server has forgotten the device, which registers again with the next wake.
    try await locked {
      guard var device = try stored(), device.credentials?.secret == credentials.secret else { return }
      device.forget()
      try file.write(device)
    }
  }

  private func isDue(_ device: StoredDevice) -> Bool {
    let interval = device.isRemoved ? Self.removalInterval : Self.retryInterval
    if let attempted = device.attempted, local.clock.now.elapsed(since: attempted) < interval { return false }
    return device.isRemoved || device.code != nil || needsRenewal(device)
  }

  private func needsRenewal(_ device: StoredDevice) -> Bool {
    guard let renewed = device.renewed, device.credentials != nil, device.server == server.url else { return true }
    // The server sends the code again when a registration is renewed that was not confirmed.
    let maximumAge = device.isConfirmed ? Self.maximumAge : Self.retryInterval
    return local.clock.now.elapsed(since: renewed) >= maximumAge
      || device.accepted != device.registration(topics: local.feed.topics)
  }

  private func renew(_ device: inout StoredDevice) async throws {
    // The registration at another server remains until this one has accepted the device: its address may be wrong.
    let other = device.server == server.url ? nil : device.credentials.map { (home(of: device), $0) }
    if other == nil { device.server = server.url }
    guard needsRenewal(device) else { return try file.write(device) }
    let registration = device.registration(topics: local.feed.topics)
    // A process that is killed meanwhile tries again after a while.
    device.attempted = local.clock.now
    try file.write(device)
    if other == nil, let known = device.credentials {
      if let credentials = try await server.renew(known, registration) {
        device.accept(credentials, registration, at: local.clock.now)
      } else {
        device.forget()
        try file.write(device)
      }
    }
    if other != nil || device.credentials == nil {
      let credentials = try await server.register(registration)
      device.forget()
      device.server = server.url
      device.accept(credentials, registration, at: local.clock.now)
    }
    try file.write(device)
    // The other server forgets the device after 90 days at the latest.
    if let (server, credentials) = other { try? await server.remove(credentials) }
    // The registration has succeeded even without the report.
    if let credentials = device.credentials, let token = try local.token {
      _ = try? await server.report(DeviceReport(token: token), of: credentials)
    }
  }

  private func remove(_ device: inout StoredDevice) async throws {
    if let credentials = device.credentials {
      device.attempted = local.clock.now
      try file.write(device)
      try await home(of: device).remove(credentials)
    }
    try file.remove()
  }

  /// Returns the server at which a device is registered. Another one must not receive its secret.
  private func home(of device: StoredDevice) -> NewsServer {
    NewsServer(url: device.server, requester: server.requester)
  }

  private func confirm(_ device: inout StoredDevice, _ code: String) async throws {
    guard let credentials = device.credentials else { return }
    device.code = code
    try file.write(device)
    var refusal: FetchError?
    do {
      // A code that the server does not know is not that of its last push, and another one follows.
      device.isConfirmed = try await home(of: device).confirm(credentials, code: code) || device.isConfirmed
    } catch let error as FetchError where error.code == .rejected {
      refusal = error
    }
    device.code = nil
    try file.write(device)
    if let refusal { throw refusal }
  }

  private func locked<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    guard let held = try await lock.acquire(within: Self.lockTimeout, clock: local.clock) else {
      throw FetchError(.storage, "another process is changing the registration for pushes")
    }
    defer { held.release() }
    return try await body()
  }
}

extension DeviceReport.Result {
  fileprivate init(_ result: FetchResult) {
    self =
      switch result {
      case .newData: .newData
      case .noData: .noData
      case .failed: .failed
      }
  }
}
