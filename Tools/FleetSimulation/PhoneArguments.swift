import ArgumentParser
import Fleet

/// The arguments about phones.
struct PhoneArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The number of phones.", valueName: "count")) var phones = 10_000
  @Option(help: "The kind of the day. On a release day, phones update the app and lose its store.")
  var day = PlanOptions.Day.normal
  @Option(help: "The newsroom: breaking-day, hourly-bulletin or office-hours.") var newsroom = "breaking-day"
  @Option(help: ArgumentHelp("The number of edges of the CDN, each with a cache.", valueName: "count")) var edges = 1
  @Option(help: "The seed of all random numbers. The same seed gives the same figures.") var seed: UInt64 = 1
  @Option(
    help: ArgumentHelp(
      """
      A share of the mix: a persona (commuter, night-owl, one-pm-reader, random, weekend-reader), wholeFeed, apns, fcm, \
      webPush, follow, install or update. Several times for several.
      """, valueName: "name=share"))
  var mix: [String] = []
  @Option(
    help: ArgumentHelp("The maximum number of phones that are planned; each stands for several.", valueName: "count"))
  var sample = 20_000
  @Option(help: ArgumentHelp("The push messages in a second, of all servers together.", valueName: "count"))
  var pushRate = 10_000.0

  /// - Throws: `ValidationError`
  func options() throws -> PlanOptions {
    var options = PlanOptions(phones: phones, day: day, seed: seed)
    (options.newsroom, options.edges, options.sample, options.pushRate) = (newsroom, edges, sample, pushRate)
    for text in mix { try Self.set(text, &options.mix) }
    return options
  }

  private static func set(_ text: String, _ mix: inout Mix) throws {
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, let share = Double(parts[1]), share.isFinite else {
      throw ValidationError("--mix has a name and a share, such as commuter=0.5, but this is '\(text)'.")
    }
    switch parts[0] {
    case "wholeFeed": mix.wholeFeed = share
    case "apns": mix.apns = share
    case "fcm": mix.fcm = share
    case "webPush": mix.webPush = share
    case "follow": mix.follow = share
    case "install": mix.install = share
    case "update": mix.update = share
    case let name where mix.personas.keys.contains(String(name)): mix.personas[String(name)] = share
    default: throw ValidationError("--mix: '\(parts[0])' is no persona and no feature; --help lists them.")
    }
  }
}
