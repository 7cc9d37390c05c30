public import ArgumentParser
import Foundation
public import News
import NewsDelivery
import NewsStore

extension PushCommand {
  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sends one push to a device, and prints what the push service has answered.",
      discussion: """
        The push wakes the app and has the current token of the feed, as after a publication. Browsers receive a visible \
        one, because they require it. It is not counted, neither in lists nor in the limits of the device. The exit \
        status is 1 unless the push service has accepted it.

        A registered device has an id:

          tidings push test --device 5f0c3a52-0d0e-4f0c-9a8e-1d1f2c3b4a5d

        A token of an app under development needs no registration:

          tidings push test --provider apns --app org.example.news --environment sandbox --token 0f744707bebc…
          tidings push test --provider fcm --token fX3c…:APA91b… --data screen=settings sound=bell
        """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The id of a registered device.", transform: CommonOptions.id)
    var device: UUID?

    @Option(help: "The push service of a token: apns or fcm.")
    var provider: PushProvider?

    @Option(help: "The device token of APNs in hexadecimal, or the registration token of FCM.")
    var token: String?

    @Option(help: "The bundle id of the app, for apns.")
    var app: String?

    @Option(help: "The environment that has issued a token of apns: production or sandbox.")
    var environment: PushEnvironment?

    @Option(
      parsing: .upToNextOption,
      help: ArgumentHelp(
        "Further fields of the payload, such as screen=settings. Names that the server uses itself are left out.",
        valueName: "name=value"))
    var data: [DataField] = []

    func validate() throws {
      guard (device == nil) != (token == nil) else {
        throw ValidationError("Name a registered device with --device, or a token with --provider and --token.")
      }
      guard device == nil || provider == nil && app == nil && environment == nil else {
        throw ValidationError("A registered device has its own --provider, --app and --environment.")
      }
      guard token != nil else { return }
      switch provider {
      case nil: throw ValidationError("--provider is missing: apns or fcm.")
      case .apns:
        if app?.isEmpty ?? true { throw ValidationError("--app is missing: the bundle id of the app, for apns.") }
      case .fcm:
        guard app == nil, environment == nil else { throw ValidationError("--app and --environment are for apns.") }
      case .webpush:
        throw ValidationError("A subscription of Web Push has keys: register it, and name it with --device.")
      }
    }

    func run() async throws {
      try await reporting {
        let (settings, logger) = try common.load()
        let configuration = try settings.deliveryConfiguration()
        try await settings.withStore(logger) { store in
          let message = try await message(store)
          let provider = message.target.provider
          let senders = configuration.senders(policy: settings.addressPolicy)
          let answer = await senders.first { $0.provider == provider }?.send(message)
          for sender in senders { await sender.shutdown() }
          guard let answer else { throw provider.missingKey }
          try Self.report(answer.result, provider)
        }
      }
    }

    /// Returns the message to send.
    private func message(_ store: NewsStore) async throws -> PushMessage {
      var fields: [String: String] = [:]
      for field in data { fields[field.name] = field.value }
      guard let device else {
        let feed = try await store.snapshot().feedVersion
        let current = SyncToken(epoch: feed.epoch, scope: .feed, version: feed.version)
        var content = PushContent(token: current.description)
        content.data = fields
        return PushMessage(target: target, deviceKind: .app, content: content, registeredAt: Date())
      }
      guard let message = try await store.testMessage(to: device) else {
        throw CommandError("there is no device with the id \(device.uuidString.lowercased()).")
      }
      var content = message.content
      content.data = fields
      if message.deviceKind == .browser { content.alert = PushAlert(title: "Tidings", body: "A test of pushes.") }
      return PushMessage(
        target: message.target, deviceKind: message.deviceKind, content: content, registeredAt: message.registeredAt)
    }

    private var target: PushTarget {
      let token = token ?? ""
      return provider == .apns
        ? .apns(token: token, topic: app ?? "", environment: environment ?? .production) : .fcm(token: token)
    }

    /// Prints that a message was accepted.
    ///
    /// - Throws: `CommandError` for any other result.
    private static func report(_ result: PushOutcome.Result, _ provider: PushProvider) throws {
      switch result {
      case .sent: try StandardStreams.printResult("\(provider.name) has accepted the push.")
      case .gone: throw CommandError("the address is gone: the app was removed, or has a new token.")
      case .tokenError(let reason), .invalid(let reason): throw CommandError("the push was refused: \(reason).")
      case .retry(_, let reason), .unsent(_, let reason): throw CommandError("the push was not accepted: \(reason).")
      }
    }
  }

  /// A further field of a payload.
  struct DataField: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
      guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex else { return nil }
      (name, value) = (String(argument[..<sign]), String(argument[argument.index(after: sign)...]))
    }
  }
}

extension PushMessage {
  /// Creates a message of no push. It is visible if its content is.
  fileprivate init(target: PushTarget, deviceKind: DeviceKind, content: PushContent, registeredAt: Date) {
    self.init(
      push: UUID(), kind: content.alert == nil ? .silent : .alert, device: UUID(), target: target,
      deviceKind: deviceKind, content: content, asksForReport: false, attempts: 0, registeredAt: registeredAt,
      isProven: false, lease: UUID())
  }
}

extension PushProvider: ExpressibleByArgument {
  /// The name in sentences.
  var name: String {
    switch self {
    case .apns: "APNs"
    case .fcm: "FCM"
    case .webpush: "The push service"
    }
  }

  /// The error that there is no key for the service.
  var missingKey: SettingError {
    let setting =
      switch self {
      case .apns: SettingTable.shared.apnsKeyFile
      case .fcm: SettingTable.shared.fcmCredentials
      case .webpush: SettingTable.shared.vapidKeyFile
      }
    return SettingError(name: setting.name, rule: "is not set, so nothing can be sent through \(rawValue)")
  }
}

extension PushEnvironment: ExpressibleByArgument {}
