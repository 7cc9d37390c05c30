/// The fetches of a user on the day, and the publications that the user follows.
struct UserWeek {
  let user: FleetUser
  let fetches: [FleetUser.Fetch]
  /// The times of all publications, in order.
  let times: [Double]
  let pushTimes: PushTimes

  init(_ user: FleetUser, _ publications: [Publication], _ options: PlanOptions) throws {
    self.user = user
    times = publications.map(\.time)
    let items = publications.filter { $0.belongs(to: user.topics) }.map(\.time)
    pushTimes = PushTimes(items: items, window: options.pushWindow)
    let receivers = Double(options.phones) * (options.mix.apns + options.mix.fcm + options.mix.webPush)
    let pushes = user.push == nil ? [] : pushTimes.arrivals(delay: receivers / options.pushRate / 2)
    fetches = try user.fetches(items: items, pushes: pushes)
  }

  /// Returns the number of publications at a time.
  func published(by time: Double) -> Int { times.count(until: time) }
}
