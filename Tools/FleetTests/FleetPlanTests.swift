import FetchSimulator
import Fleet
import News
import Testing

@Suite struct `A plan of a day` {
  /// A small plan that several tests share, because learning habits takes time.
  private static let shared = Result { try FleetPlan(options()) }

  private static func options(
    users: Int = 10, day: PlanOptions.Day = .normal, seed: UInt64 = 3
  ) -> PlanOptions {
    var options = PlanOptions(phones: 400, day: day, seed: seed)
    options.users = users
    return options
  }

  @Test func `Is the same for the same seed, and another one for another seed`() throws {
    let plan = try FleetPlan(Self.options(users: 3))
    #expect(try FleetPlan(Self.options(users: 3)) == plan)
    #expect(try FleetPlan(Self.options(users: 3, seed: 4)).phones != plan.phones)
  }

  @Test func `Has the actions of each phone in order, within the day`() throws {
    let plan = try Self.shared.get()
    #expect(plan.phones.count == 400)
    #expect(plan.phones.allSatisfy { !$0.actions.isEmpty })
    for phone in plan.phones {
      let times = phone.actions.map(\.time)
      #expect(times == times.sorted())
      #expect(times.allSatisfy { 0..<86_400 ~= $0 })
      #expect(phone.weight == 1)
    }
  }

  @Test func `Wakes phones with pushes after publications of their topics`() throws {
    let plan = try Self.shared.get()
    var pushes = 0
    for phone in plan.phones {
      for action in phone.actions {
        guard case .push(let count) = action.kind else { continue }
        pushes += 1
        #expect(phone.push != nil)
        #expect(count <= plan.publications.count)
        let published = plan.publications.prefix(count).filter {
          $0.time <= action.time && $0.belongs(to: phone.topics)
        }
        #expect(!published.isEmpty)
      }
    }
    #expect(pushes > 100)
    #expect(plan.publications.count > plan.publishedBefore)
  }

  @Test func `Spreads phones over the shares of the mix`() throws {
    let plan = try Self.shared.get()
    let whole = plan.phones.count { $0.topics.isEmpty }
    let apns = plan.phones.count { $0.push == .apns }
    // Ten users are spread evenly, so that at most one more or less has a property.
    #expect(abs(Double(whole) / 400 - 0.6) < 0.13)
    #expect(abs(Double(apns) / 400 - 0.35) < 0.13)
    #expect(Set(plan.phones.map(\.persona)).count >= 4)
    #expect(Set(plan.phones.map(\.zone)).contains("Europe/Berlin"))
  }

  @Test func `Updates the app of a share of the phones on a release day, after the release`() throws {
    let plan = try FleetPlan(Self.options(users: 4, day: .release))
    let updates = plan.phones.flatMap(\.actions).filter { $0.kind == .update }
    #expect(60..<180 ~= updates.count)
    #expect(updates.allSatisfy { $0.time >= 36_000 })
    #expect(try Self.shared.get().phones.allSatisfy { phone in !phone.actions.contains { $0.kind == .update } })
  }

  @Test func `Represents a large fleet by a sample with weights`() throws {
    var options = Self.options(users: 3)
    options.phones = 1_000_000
    options.sample = 300
    let plan = try FleetPlan(options)
    #expect(plan.phones.count == 300)
    #expect(abs(plan.phones.reduce(0) { $0 + $1.weight } - 1_000_000) < 0.001)
  }

  @Test func `Divides all times by the compression`() throws {
    let whole = try FleetPlan(Self.options(users: 3))
    var options = whole.options
    options.compression = 144
    let plan = try FleetPlan(options)
    #expect(plan.duration == 600)
    let (first, second) = (plan.phones[0].actions, whole.phones[0].actions)
    #expect(first.count == second.count)
    #expect(zip(first, second).allSatisfy { abs($0.time * 144 - $1.time) < 1e-6 })
  }

  private static let refusals: [(message: String, change: @Sendable (inout PlanOptions) -> Void)] = [
    ("the number of phones is 1 to 1000000000", { $0.phones = 0 }),
    ("the number of edges is 1 to 10000", { $0.edges = 0 }),
    ("the compression is 1 to 86400", { $0.compression = 0.5 }),
    ("the share of follow in the mix is 0 to 1", { $0.mix.follow = 1.5 }),
    ("the share of apns, fcm and webPush together in the mix is 0 to 1", { $0.mix.apns = 0.9 }),
    (
      "the newsroom 'evening' is unknown; it is one of breaking-day, hourly-bulletin, office-hours",
      { $0.newsroom = "evening" }
    ),
  ]

  @Test(arguments: refusals.indices)
  func `Is refused with a sentence that names the option`(_ index: Int) {
    let (message, change) = Self.refusals[index]
    var options = Self.options()
    change(&options)
    #expect(throws: FleetPlan.OptionError.self) { try FleetPlan(options) }
    do { _ = try FleetPlan(options) } catch { #expect("\(error)" == message) }
  }
}
