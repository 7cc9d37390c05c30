import ArgumentParser
import Foundation
import PushMocks

/// Mocks of push services for a server under development, until Ctrl-C.
@main
struct PushMocksServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push-mocks",
    abstract: "Plays APNs, FCM and a Web Push service on loopback, and prints each message that it receives.")

  @Option(help: "The folder for keys, the certificate and example registrations. The keys are kept.")
  var directory: String

  @Option(help: "The port of APNs; 0 for a free one.")
  var apnsPort = 8441

  @Option(help: "The port of FCM; 0 for a free one.")
  var fcmPort = 8442

  @Option(help: "The port of the Web Push service; 0 for a free one.")
  var webPushPort = 8443

  @Flag(help: "Check no signatures and contents, and print no messages: for measurements of load.")
  var light = false

  func run() async throws {
    let folder = URL(filePath: directory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = PushMocks.Configuration(keys: try MockKeys(in: folder))
    (configuration.ports.apns, configuration.ports.fcm, configuration.ports.webPush) = (
      apnsPort, fcmPort, webPushPort
    )
    configuration.isLight = light
    if !light { configuration.observer = { service, event in print(line: EventLine(service, event).text) } }
    let mocks = try await PushMocks(configuration)
    try MockFolder(folder).write(mocks)
    print(line: "APNs \(mocks.apns.url), FCM \(mocks.fcm.url), Web Push \(mocks.webPush.url)")
    print(line: "keys and settings: \(folder.appending(path: "settings.env").path)")
    while light {
      try await Task.sleep(for: .seconds(10))
      for (name, record) in [
        ("apns", mocks.apns.record), ("fcm", mocks.fcm.record), ("webpush", mocks.webPush.record),
      ] {
        let totals = record.totals
        print(line: "\(name): \(totals.accepted) accepted, \(totals.refused) refused, \(record.addresses) devices")
      }
    }
    try await Task.sleep(for: .seconds(1_000_000_000))
  }

  /// Prints a line at once, also into a pipe.
  private func print(line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
