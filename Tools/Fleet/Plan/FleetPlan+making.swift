import FetchSimulator
import Foundation
import News
import TestKit

extension FleetPlan {
  /// The error if there is no plan for the options.
  public struct OptionError: Error, Hashable, CustomStringConvertible {
    /// A sentence that names the option and its rule.
    public let description: String
  }

  /// The share of pushes that ask for a report (`TIDINGS_PUSH_REPORT_RATE`).
  static let reportRate = 0.01
  /// The local time of a release in seconds since the beginning of the day: 10:00.
  static let releaseTime = 36_000.0

  /// Makes the plan of a day.
  ///
  /// - Throws: ``OptionError``
  public init(_ options: PlanOptions) throws {
    try options.validate()
    let catalogue = try Catalogue.shipped()
    guard let newsroom = catalogue.newsrooms.first(where: { $0.name == options.newsroom }) else {
      throw OptionError(
        description: "the newsroom '\(options.newsroom)' is unknown; it is one of "
          + catalogue.newsrooms.map(\.name).joined(separator: ", "))
    }
    var day = NewsroomDay(newsroom, seed: options.seed)
    let publications = day.publications()
    let count = min(options.phones, options.sample)
    let users = try Self.users(min(count, options.users), options, catalogue)
    let weeks = try users.map { try UserWeek($0, publications, options) }
    phones = (0..<count).map { Self.phone($0, of: count, weeks, options) }
    self.options = options
    duration = 86_400 / options.compression
    self.publications = publications.map { publication in
      var publication = publication
      publication.time /= options.compression
      return publication
    }
    publishedBefore = publications.count { $0.time < 0 }
  }

  /// The number of publications that every phone has before the day.
  public var minimumKnown: Int { phones.lazy.map(\.known).min() ?? publishedBefore }

  /// The users whose weeks are simulated. Their properties are spread evenly over the shares of the mix.
  private static func users(_ count: Int, _ options: PlanOptions, _ catalogue: Catalogue) throws -> [FleetUser] {
    let personas = try options.mix.personas.sorted { $0.key < $1.key }.map { name, share in
      guard let persona = catalogue.personas.first(where: { $0.name == name }) else {
        throw OptionError(
          description: "the persona '\(name)' of the mix is unknown; it is one of "
            + catalogue.personas.map(\.name).joined(separator: ", "))
      }
      return (persona, share)
    }
    let zones = try options.mix.zones.sorted { $0.key < $1.key }.map { name, share in
      guard let zone = TimeZone(identifier: name) else {
        throw OptionError(description: "the time zone '\(name)' of the mix is unknown; an example is Europe/Berlin")
      }
      return (zone, share)
    }
    let mix = options.mix
    let services: [(PushProvider?, Double)] = [
      (.apns, mix.apns), (.fcm, mix.fcm), (.webpush, mix.webPush), (nil, 1 - mix.apns - mix.fcm - mix.webPush),
    ]
    return (0..<count).map { number in
      let spread = EvenSpread(number, seed: options.seed)
      var random = SplitMix64(seed: options.seed &* 5 &+ UInt64(number) &* 0x9e37_79b9)
      var topics: Set<String> = []
      if spread[2] >= mix.wholeFeed { for _ in 0...random.next() % 3 { topics.insert(random.topic()) } }
      return FleetUser(
        persona: spread.choice(0, personas), zone: spread.choice(1, zones), topics: topics.sorted(),
        push: spread.choice(3, services), seed: random.next())
    }
  }

  /// Makes a phone of the sample.
  private static func phone(
    _ number: Int, of count: Int, _ weeks: [UserWeek], _ options: PlanOptions
  ) -> Phone {
    let week = weeks[number % weeks.count]
    var random = SplitMix64(seed: options.seed &* 7 &+ UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
    var day = PhoneDay(week, options, isFirst: number < weeks.count, &random)
    day.addConnections(&random, mix: options.mix)
    day.addRegistration(&random)
    day.addLostStore(options, &random)
    return Phone(
      persona: week.user.persona.name, zone: week.user.zone.identifier, topics: week.user.topics,
      edge: Int(random.next() % UInt64(options.edges)), push: week.user.push,
      weight: Double(options.phones) / Double(count), known: day.known,
      actions: day.actions.map { action in
        var action = action
        action.time /= options.compression
        switch action.kind {
        case .longPoll(let seconds): action.kind = .longPoll(seconds: seconds / options.compression)
        case .events(let seconds): action.kind = .events(seconds: seconds / options.compression)
        default: break
        }
        return action
      })
  }
}

extension PlanOptions {
  /// - Throws: ``FleetPlan/OptionError``
  fileprivate func validate() throws {
    func check(_ isValid: Bool, _ rule: String) throws {
      if !isValid { throw FleetPlan.OptionError(description: rule) }
    }
    try check(phones >= 1 && phones <= 1_000_000_000, "the number of phones is 1 to 1000000000")
    try check(sample >= 1 && sample <= 1_000_000, "the size of the sample is 1 to 1000000")
    try check(users >= 1 && users <= 100_000, "the number of users is 1 to 100000")
    try check(edges >= 1 && edges <= 10_000, "the number of edges is 1 to 10000")
    try check(compression >= 1 && compression <= 86_400, "the compression is 1 to 86400")
    try check(pushRate >= 1, "the rate of pushes is 1 or more a second")
    try check(0...3600 ~= pushWindow, "the window of pushes is 0 to 3600 seconds")
    let shares = [
      ("wholeFeed", mix.wholeFeed), ("apns", mix.apns), ("fcm", mix.fcm), ("webPush", mix.webPush),
      ("apns, fcm and webPush together", mix.apns + mix.fcm + mix.webPush), ("follow", mix.follow),
      ("install", mix.install), ("update", mix.update), ("install and update together", mix.install + mix.update),
    ]
    for (name, share) in shares { try check(0...1 ~= share, "the share of \(name) in the mix is 0 to 1") }
    let relative = Array(mix.personas) + Array(mix.zones)
    for (name, share) in relative { try check(share >= 0, "the share of \(name) in the mix is 0 or more") }
    try check(mix.personas.values.reduce(0, +) > 0, "a mix has at least one persona")
    try check(mix.zones.values.reduce(0, +) > 0, "a mix has at least one time zone")
    try check(mix.visibleSeconds > 0, "visibleSeconds of the mix is above 0")
    try check(mix.updateHours > 0, "updateHours of the mix is above 0")
  }
}
