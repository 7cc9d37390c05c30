public import ArgumentParser
import BackgroundFetch
import Foundation
public import News
import NewsClient

extension Push {
  struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Registers this device for pushes, or changes its registration.",
      discussion: """
        The address of the device is a token of APNs or FCM, or the endpoint of a UnifiedPush distributor, for which the \
        store makes keys. Other users of the machine can see the command line; with - the address is read from standard \
        input. Wakes of the schedule and pushes renew the registration weekly. If the server cannot be reached, the exit \
        status is 20, and the registration follows with the next wake.
        """)

    @ParentCommand var parent: TidingsFetch

    @Option(help: "The push service: apns, fcm or webpush.")
    var provider: PushProvider

    @Option(help: "The token of APNs in hexadecimal digits, or of FCM; - reads it from standard input.")
    var token: String?

    @Option(help: "The endpoint of Web Push, an https URL; - reads it from standard input.")
    var endpoint: String?

    @Option(help: "The bundle id of the app, for apns.")
    var app: String?

    @Flag(help: "For apns: the app was installed by Xcode.")
    var sandbox = false

    @Flag(inversion: .prefixedNo, help: "Whether visible alerts are wanted.")
    var alerts = false

    @Option(help: "The languages of alerts, separated by commas; without it, all.")
    var languages: String?

    @Option(
      help: "The hours without pushes, in the time zone of this machine, such as 22:00-07:00; none for none.",
      transform: Setting.quiet.usable)
    var quiet: String?

    func validate() throws {
      if provider == .webpush {
        guard endpoint != nil, token == nil else { throw ValidationError("webpush needs --endpoint, and no --token") }
      } else {
        guard token != nil, endpoint == nil else {
          throw ValidationError("\(provider.rawValue) needs --token, and no --endpoint")
        }
      }
      if provider == .apns, app == nil { throw ValidationError("apns needs --app") }
      if provider != .apns, app != nil || sandbox { throw ValidationError("--app and --sandbox are options of apns") }
    }

    @Option(help: CommandTimeout.help) var timeout = CommandTimeout()

    func run() async throws {
      let client = try parent.client(timeout: timeout)
      try await client.registerDevice(try await registration(client))
      if client.device?.isConfirmed == false {
        try Output.print("registered; the server sends pushes once the first one was received")
      }
      if try client.schedule.interval == .never {
        try Output.print(
          "pushes above three an hour are made up for once you set an interval: tidings-fetch schedule set minimum")
      }
    }

    private func registration(_ client: NewsFetcher) async throws -> DeviceRegistration {
      let languages = languages?.commaSeparated ?? []
      var registration = DeviceRegistration(
        provider: provider, kind: provider == .webpush ? .unifiedpush : .app, app: app,
        environment: sandbox ? .sandbox : nil, topics: parent.topics?.commaSeparated,
        languages: languages.isEmpty ? nil : languages, alerts: alerts)
      if let hours = quiet.flatMap({ QuietHours(period: $0) }) {
        (registration.quiet, registration.timeZone) = (hours, TimeZone.current.identifier)
      }
      registration.token = try token.map(secret)
      if let endpoint {
        registration.subscription = try await client.pushSubscription(endpoint: try secret(endpoint))
      }
      return registration
    }
  }
}

extension PushProvider: ExpressibleByArgument {}
