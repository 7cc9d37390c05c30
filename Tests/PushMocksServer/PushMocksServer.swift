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

  @Flag(help: "Check no signatures and contents, and print only numbers of messages: for measurements of load.")
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
    if light { try await printTotals(mocks) }
    try await Task.sleep(for: .seconds(1_000_000_000))
  }

  /// Prints the numbers of messages of a service ten times a second while they change, with the time in seconds since 1970.
  private func printTotals(_ mocks: PushMocks) async throws {
    let records = [("apns", mocks.apns.record), ("fcm", mocks.fcm.record), ("webpush", mocks.webPush.record)]
    var printed: [String: String] = [:]
    while true {
      try await Task.sleep(for: .milliseconds(100))
      for (name, record) in records {
        let totals = record.totals
        let numbers = "\(totals.accepted) accepted, \(totals.refused) refused, \(record.addresses) devices"
        if printed.updateValue(numbers, forKey: name) == numbers { continue }
        print(line: "\(name) \(numbers), \(String(format: "%.3f", Date().timeIntervalSince1970))")
      }
    }
  }

  /// Prints a line at once, also into a pipe.
  private func print(line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
