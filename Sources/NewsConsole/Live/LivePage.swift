import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore

/// The values of the live page's main part.
struct LivePage {
  private let pages: ConsolePages
  private let facts: LiveFacts
  private let visit: ConsoleVisit
  private let numbers: NumberText
  private let rates: TrafficRates

  init(_ facts: LiveFacts, for visit: ConsoleVisit, _ pages: ConsolePages) {
    self.pages = pages
    self.facts = facts
    self.visit = visit
    numbers = NumberText(pages.texts)
    rates = TrafficRates(samples: facts.samples)
  }

  var values: PageValues {
    var values = PageValues()
    values.set("asOf", clock(facts.date))
    values.set("asOfMachine", RFC3339.string(from: facts.date))
    values.set("startedAt", pages.date(facts.date.addingTimeInterval(-(facts.age / .seconds(1)))).text)
    setTraffic(in: &values)
    setClients(in: &values)
    values.set("feedVersion", facts.feedVersion.map(numbers.whole) ?? "–")
    values.set("versions", facts.versions.map(row))
    values.set("hasNoVersions", facts.versions.isEmpty)
    if let database = facts.database { set(database, in: &values) }
    return values
  }

  // MARK: Requests

  private func setTraffic(in values: inout PageValues) {
    let totals = facts.totals
    let present = rates.present
    values.set("requestRate", numbers.short(present?.requests ?? 0))
    values.set("requestTotal", pages.texts.text("live-request-total", ["count": numbers.whole(totals.requests)]))
    values.set("notModifiedShare", numbers.percent(rates.requests.notModified, of: rates.requests.all))
    values.set("notModifiedTotal", totals.requests > 0 ? numbers.percent(totals.notModified, of: totals.requests) : nil)
    values.set("sentBytes", numbers.bytes(Double(totals.sentBytes)))
    values.set("sentRate", numbers.bytes(present?.sentBytes ?? 0))
    values.set("savedBytes", numbers.bytes(Double(totals.savedByNotModified + totals.savedByCompression)))
    values.set("savedByNotModified", numbers.bytes(Double(totals.savedByNotModified)))
    values.set("savedByCompression", numbers.bytes(Double(totals.savedByCompression)))
    let all = rates.rates
    let top = Chart.top(of: all.map(\.requests))
    values.set("requestTop", numbers.short(top))
    values.set(
      "requestChart",
      Chart.lines(
        [
          Chart.Line(style: "first", isFilled: true, points: points(all, \.requests)),
          Chart.Line(style: "second", points: points(all, \.notModified)),
        ], upTo: top,
        label("requests", now: numbers.short(present?.requests ?? 0), most: numbers.short(most(\.requests)))))
    let byteTop = Chart.top(of: all.flatMap { [$0.sentBytes, $0.savedBytes] })
    values.set("byteTop", numbers.bytes(byteTop))
    values.set(
      "byteChart",
      Chart.lines(
        [
          Chart.Line(style: "first", isFilled: true, points: points(all, \.sentBytes)),
          Chart.Line(style: "second", points: points(all, \.savedBytes)),
        ], upTo: byteTop,
        label("bytes", now: numbers.bytes(present?.sentBytes ?? 0), most: numbers.bytes(most(\.sentBytes)))))
    values.set("rateRows", rates.rows.map(row))
  }

  private func most(_ value: KeyPath<TrafficRates.Rate, Double>) -> Double {
    rates.rates.map { $0[keyPath: value] }.max() ?? 0
  }

  /// The points of a line, with the last sample at the right end.
  private func points(_ rates: [TrafficRates.Rate], _ value: KeyPath<TrafficRates.Rate, Double>) -> [Chart.Point] {
    guard let last = rates.last?.time else { return [] }
    return rates.map { rate in
      Chart.Point(position: 1 - (last - rate.time) / TrafficHistory.length, value: rate[keyPath: value])
    }
  }

  private func label(_ name: String, now: String, most: String) -> Chart.Label {
    Chart.Label(
      id: "chart-\(name)", title: pages.texts.text("live-chart-\(name)"),
      description: pages.texts.text("live-chart-text", ["now": now, "most": most]))
  }

  private func row(_ rate: TrafficRates.Rate) -> PageValues {
    var values = PageValues()
    values.set("rateTime", clock(facts.date.addingTimeInterval(-((facts.age - rate.time) / .seconds(1)))))
    values.set("rateRequests", numbers.short(rate.requests))
    values.set("rateNotModified", numbers.short(rate.notModified))
    values.set("rateSent", numbers.bytes(rate.sentBytes))
    values.set("rateSaved", numbers.bytes(rate.savedBytes))
    return values
  }

  // MARK: Clients

  private func setClients(in values: inout PageValues) {
    values.set("connections", numbers.whole(facts.clients.connections))
    values.set("longPolls", numbers.whole(facts.clients.longPolls))
    values.set("eventStreams", numbers.whole(facts.clients.eventStreams))
    values.set("viewers", numbers.whole(facts.viewers))
    let top = Chart.top(of: facts.hours.map { Double($0.polls) })
    values.set("pollTop", numbers.short(top))
    values.set("firstHour", facts.hours.first.map { hour($0.start) })
    let now = numbers.whole(facts.hours.last?.polls ?? 0)
    let most = numbers.whole(facts.hours.map(\.polls).max() ?? 0)
    values.set(
      "pollChart",
      Chart.bars(
        facts.hours.map { Chart.Bar(whole: Double($0.polls), part: Double($0.unchanged)) }, upTo: top,
        Chart.Label(
          id: "chart-polls", title: pages.texts.text("live-chart-polls"),
          description: pages.texts.text("live-chart-polls-text", ["now": now, "most": most]))))
    values.set("hourRows", facts.hours.filter { $0.polls > 0 }.reversed().map(row))
    values.set("hasNoPolls", facts.hours.allSatisfy { $0.polls == 0 })
  }

  private func row(_ polls: TrafficHistory.Hour) -> PageValues {
    var values = PageValues()
    values.set("hourStart", hour(polls.start))
    values.set("hourPolls", numbers.whole(polls.polls))
    values.set("hourUnchanged", numbers.percent(polls.unchanged, of: polls.polls))
    return values
  }

  // MARK: Versions

  private func row(_ version: PublishedVersion) -> PageValues {
    var values = PageValues()
    values.set("versionNumber", pages.texts.text("live-version", ["number": numbers.whole(version.version)]))
    pages.setTime("version", version.time, in: &values)
    values.set("versionTitle", pages.headline(title: version.title, text: version.text))
    values.set("versionLanguage", version.language)
    values.set("removal", version.removal.map { pages.texts.text("live-removed-\($0)") })
    values.set(
      "versionLink", visit.mayWrite ? pages.link(ConsolePath.path(ConsolePath.item, id: version.item)) : nil)
    values.set("isPlain", !visit.mayWrite)
    return values
  }

  // MARK: Database

  private func set(_ database: LiveFacts.Database, in values: inout PageValues) {
    values.set("isAdministrator", true)
    let connections = database.connections
    values.set("poolLeased", numbers.whole(connections.leased))
    values.set("poolLimit", numbers.whole(connections.limit))
    values.set("poolIdle", numbers.whole(connections.idle))
    values.set("poolWaiting", numbers.whole(connections.waiting))
    if let reads = database.standbyReads {
      values.set("standbyReads", true)
      values.set("readsUsed", numbers.whole(reads.used))
      values.set("readsBehind", numbers.whole(reads.behind))
      values.set("readsFailed", numbers.whole(reads.failed))
    }
    guard let condition = database.condition else { return values.set("isSilent", true) }
    values.set("hasCondition", true)
    values.set("latency", numbers.milliseconds(condition.latency))
    values.set("databaseSize", numbers.bytes(Double(condition.size)))
    // A distribution adds its own version: `15.18 (Debian 15.18-0+deb12u1)`.
    values.set("databaseVersion", String(condition.version.prefix { $0 != " " }))
    setSchema(condition.migration, in: &values)
    values.set("processes", numbers.whole(condition.processes))
    values.set("standbys", condition.standbys.map(row))
    values.set("hasStandbys", !condition.standbys.isEmpty)
  }

  /// Sets the number and the name of a migration such as `0024_console_sessions.sql`.
  private func setSchema(_ migration: String?, in values: inout PageValues) {
    let name = migration.map { $0.hasSuffix(".sql") ? $0.dropLast(4) : $0[...] } ?? "–"
    let number = name.prefix { $0 != "_" }
    values.set("schemaNumber", String(number))
    values.set("schemaName", String(name.dropFirst(number.count + 1).replacing("_", with: " ")))
  }

  private func row(_ standby: DatabaseCondition.Standby) -> PageValues {
    var values = PageValues()
    values.set("standbyName", standby.name ?? "–")
    values.set("standbyAddress", standby.address ?? "–")
    values.set("standbyState", standby.state ?? pages.texts.text("live-hidden"))
    values.set("standbyLag", standby.lag.map { numbers.milliseconds(.seconds($0)) } ?? "–")
    values.set("standbyBytes", standby.lagBytes.map { numbers.bytes(Double($0)) } ?? "–")
    return values
  }

  /// The time of day in UTC, such as `08:30:05`.
  private func clock(_ date: Date) -> String { String(RFC3339.string(from: date).dropFirst(11).prefix(8)) }

  /// The time of day in UTC without seconds.
  private func hour(_ date: Date) -> String { String(RFC3339.string(from: date).dropFirst(11).prefix(5)) }
}
