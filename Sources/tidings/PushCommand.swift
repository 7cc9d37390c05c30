import ArgumentParser
import Foundation
import News
import NewsStore

struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Tests pushes to devices, sends alerts and lists what was sent.",
    subcommands: [Test.self, Send.self, List.self])

  struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Requests an alert for an item.",
      discussion: """
        An item has at most one alert, ever. Running servers make it once the item is published, at once if it is \
        published already. Prints the state of the alert: "waiting", "released" with the id of the push, or "cancelled". \
        With --dry-run, nothing is sent: each line has a push service and the number of devices that the alert would \
        reach, separated by a tab, or aligned below headings on a terminal. The line "quiet" counts devices that it would not reach, because they have their quiet \
        hours.
        """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The id of the item.", transform: CommonOptions.id)
    var item: UUID

    @Flag(help: "Count the devices that the alert would reach, and send nothing.")
    var dryRun = false

    func run() async throws {
      try await common.withStore { store, _ in
        do {
          try await send(store)
        } catch StoreError.notFound {
          throw CommandError("there is no item with the id \(item.uuidString.lowercased()).")
        } catch StoreError.retracted {
          throw CommandError("the item \(item.uuidString.lowercased()) is no longer published, so it has no alert.")
        }
      }
    }

    private func send(_ store: NewsStore) async throws {
      if dryRun {
        let audience = try await store.alertAudience(of: item)
        let counts = PushProvider.allCases.map { [$0.rawValue, "\(audience.providers[$0] ?? 0)"] }
        return try StandardStreams.printList(["SERVICE", "DEVICES"], counts + [["quiet", "\(audience.quiet)"]])
      }
      let request = try await store.requestAlert(item: item)
      if !request.isNew { StandardStreams.printDiagnostic("tidings: the alert was requested before.") }
      let push = request.push.map { "\t\($0.uuidString.lowercased())" } ?? ""
      try StandardStreams.printResult(request.state.rawValue + push)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the pushes of the last 30 days, newest first.",
      discussion: """
        Each line has twelve columns, separated by tabs, or aligned below headings on a terminal: the id, the kind \
        ("silent", "alert" or "retraction"), the time, the item, the number of devices that it is for, and the numbers of \
        messages that a push service has accepted, that it has refused, that met devices which are gone, and that were not \
        sent, as in quiet hours; the number of reports by devices, the number of these that found news, and the title of an \
        alert. A hyphen means none.
        """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The maximum number of pushes, 1 to 1000.")
    var limit = 50

    func validate() throws {
      guard 1...1000 ~= limit else { throw ValidationError("--limit must be from 1 to 1000.") }
    }

    func run() async throws {
      try await common.withStore { store, _ in
        try StandardStreams.printList(
          [
            "ID", "KIND", "TIME", "ITEM", "DEVICES", "ACCEPTED", "REFUSED", "GONE", "NOT SENT", "REPORTS", "FOUND NEWS",
            "TITLE",
          ], try await store.pushes(limit: limit).map(Self.columns))
      }
    }

    private static func columns(_ push: Push) -> [String] {
      let counts = [
        push.audience, push.sent, push.refused, push.gone, push.dropped, push.reports, push.foundNews,
      ]
      return [
        push.id.uuidString.lowercased(), push.kind.rawValue, RFC3339.string(from: push.created),
        push.item?.uuidString.lowercased() ?? "-",
      ] + counts.map { String($0) } + [push.title?.terminalSafe ?? "-"]
    }
  }
}
