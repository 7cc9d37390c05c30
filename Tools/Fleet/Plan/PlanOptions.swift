/// The options of a ``FleetPlan``.
///
///     var options = PlanOptions(phones: 1_000_000, day: .release, seed: 7)
///     options.mix.follow = 0.2
public struct PlanOptions: Sendable, Hashable {
  /// The kinds of days.
  public enum Day: String, Sendable, Hashable, CaseIterable {
    /// A working day.
    case normal
    /// A working day on which a new version of the app appears. It begins with an empty store.
    case release
  }

  /// The number of phones, 1 or more.
  public var phones: Int
  /// The maximum number of phones whose actions are planned, 1 or more. A larger fleet is represented by this many.
  public var sample = 20_000
  /// The maximum number of users whose week before the day is simulated, 1 or more. Phones with the same user differ in the
  /// minute of their wakes and openings.
  public var users = 400
  /// The shares of habits and features.
  public var mix = Mix()
  /// The name of the newsroom in the catalogue of `FetchSimulator`.
  public var newsroom = "breaking-day"
  /// The kind of the day.
  public var day: Day
  /// The seed of all random numbers.
  public var seed: UInt64
  /// The number of edges of the CDN, 1 or more.
  public var edges = 1
  /// The number by which all times of the plan are divided, 1 or more. With 144, a day takes ten minutes.
  public var compression = 1.0
  /// The number of push messages that the servers send in a second, together.
  public var pushRate = 10_000.0
  /// The seconds from a publication to its push (`TIDINGS_PUSH_WINDOW`), before the compression.
  public var pushWindow = 60.0

  /// Creates options.
  ///
  /// - Parameters:
  ///   - phones: The number of phones, 1 or more.
  ///   - day: The kind of the day.
  ///   - seed: The seed of all random numbers.
  public init(phones: Int, day: Day = .normal, seed: UInt64 = 1) {
    (self.phones, self.day, self.seed) = (phones, day, seed)
  }
}

/// The shares of habits and features in a fleet.
///
///     var mix = Mix()
///     mix.personas = ["commuter": 1]
///     mix.follow = 0
public struct Mix: Sendable, Hashable {
  /// The relative shares of the personas, by the names of the catalogue of `FetchSimulator`.
  public var personas = [
    "commuter": 0.35, "night-owl": 0.15, "one-pm-reader": 0.2, "random": 0.1, "weekend-reader": 0.2,
  ]
  /// The relative shares of time zones, by their identifiers.
  public var zones = ["Europe/Berlin": 0.7, "Europe/London": 0.15, "America/New_York": 0.1, "Asia/Tokyo": 0.05]
  /// The share of phones that follow the whole feed, 0...1. Others follow one to three topics.
  public var wholeFeed = 0.6
  /// The share of phones with pushes by APNs. The three shares of pushes are 0...1 together.
  public var apns = 0.35
  /// The share of phones with pushes by FCM.
  public var fcm = 0.3
  /// The share of phones with pushes by Web Push.
  public var webPush = 0.05
  /// The share of openings during which the app holds a connection, 0...1. Half are long polls, half are event streams.
  public var follow = 0.1
  /// The mean time for which an app that holds a connection is visible, in seconds.
  public var visibleSeconds = 120.0
  /// The share of phones that are installed on the day, 0...1.
  public var install = 0.002
  /// The share of phones that update the app on a release day, 0...1.
  public var update = 0.4
  /// The mean time from the release to an update, in hours.
  public var updateHours = 4.0

  /// Creates the default mix.
  public init() {}
}
