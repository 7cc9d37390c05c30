import TestKit

/// The day of a phone: the fetches of its user, moved by some minutes, with what a phone does besides.
struct PhoneDay {
  /// The actions, in order. Their times are in seconds since the beginning of the day.
  private(set) var actions: [Action] = []
  /// The number of publications at the last fetch before the day.
  let known: Int
  private let week: UserWeek

  /// The times over which phones of the same user are spread, in seconds: their openings, and their wakes without a lead
  /// time.
  static let openingSpread = 900.0
  static let wakeSpread = 300.0

  /// - Parameter isFirst: Whether the phone is the first one of its user, whose openings are not moved.
  init(_ week: UserWeek, _ options: PlanOptions, isFirst: Bool, _ random: inout SplitMix64) {
    self.week = week
    // Habits are learned by quarters of an hour, so they hold for a phone that does everything a quarter later.
    let shift = isFirst ? 0 : (random.unit() * 3).rounded(.down) * 900 - 900
    let leadTime = random.unit() * 300
    let receivers = Double(options.phones) * (options.mix.apns + options.mix.fcm + options.mix.webPush)
    let turn = (random.unit() - 0.5) * receivers / options.pushRate
    var known = 0
    var actions: [Action] = []
    for fetch in week.fetches {
      let time: Double
      let kind: Action.Kind
      let part = isFirst ? 0 : random.unit() - 0.5
      switch fetch.reason {
      case .wake: (time, kind) = (Self.moved(fetch.time + shift, leadTime, otherwise: part * Self.wakeSpread), .wake)
      case .open: (time, kind) = (fetch.time + shift + part * Self.openingSpread, .open)
      case .push: (time, kind) = (fetch.time + turn, .push(publications: week.published(by: fetch.time + turn)))
      }
      if time < 0 { known = max(known, week.published(by: time)) }
      if 0..<86_400 ~= time { actions.append(Action(time: time, kind: kind)) }
    }
    self.known = known == 0 ? week.published(by: -28_800) : known
    self.actions = actions.sorted { $0.time < $1.time }
  }

  /// Moves a wake within the range of lead times, which differ between installs: 180 to 480 seconds before a quarter of an
  /// hour. Other wakes are moved by the last argument.
  private static func moved(_ time: Double, _ leadTime: Double, otherwise offset: Double) -> Double {
    let quarter = (time / 900).rounded(.up) * 900
    let lead = quarter - time
    guard 180..<480 ~= lead else { return time + offset }
    return quarter - 180 - (lead - 180 + leadTime).truncatingRemainder(dividingBy: 300)
  }

  /// Lets the app hold a connection during some openings.
  mutating func addConnections(_ random: inout SplitMix64, mix: Mix) {
    var result: [Action] = []
    for action in actions {
      result.append(action)
      guard action.kind == .open, random.unit() < mix.follow else { continue }
      let seconds = random.exponential(mix.visibleSeconds)
      let kind: Action.Kind = random.unit() < 0.5 ? .longPoll(seconds: seconds) : .events(seconds: seconds)
      result.append(Action(time: action.time, kind: kind))
    }
    actions = result
  }

  /// Renews the registration once a week, with the first wake after a time of day, and reports some pushes.
  mutating func addRegistration(_ random: inout SplitMix64) {
    guard week.user.push != nil else { return }
    var due = random.unit() * 7 * 86_400
    var result: [Action] = []
    for action in actions {
      result.append(action)
      var isPush = false
      if case .push = action.kind { isPush = true }
      if isPush, random.unit() < FleetPlan.reportRate { result.append(Action(time: action.time, kind: .report)) }
      if action.time >= due, isPush || action.kind == .wake {
        result.append(Action(time: action.time, kind: .renew))
        due = .infinity
      }
    }
    actions = result
  }

  /// Installs the app with an action of the day, or replaces it by a new version.
  mutating func addLostStore(_ options: PlanOptions, _ random: inout SplitMix64) {
    let (choice, moment) = (random.unit(), random.unit())
    let delay = random.exponential(options.mix.updateHours * 3600)
    let isUpdate = options.day == .release && 1 - choice <= options.mix.update
    let start = choice < options.mix.install ? moment * 86_400 : FleetPlan.releaseTime + delay
    guard choice < options.mix.install || isUpdate,
      let index = actions.firstIndex(where: { $0.time >= start && $0.isFetch })
    else { return }
    actions[index].kind = isUpdate ? .update : .install
    if !isUpdate { actions.removeFirst(index) }
  }
}

extension Action {
  /// Whether it begins with a fetch.
  fileprivate var isFetch: Bool {
    switch kind {
    case .wake, .open, .push: true
    default: false
    }
  }
}
