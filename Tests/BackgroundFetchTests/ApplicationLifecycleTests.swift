import BackgroundFetch
import TestKit
import Testing

@Suite("Application lifecycle")
struct ApplicationTests {
  let clock = ManualClock()
  let events = Journal<String>()

  private func makeApplication(_ reason: LaunchReason, exitsOnSuspend: Bool = false) -> ApplicationLifecycle {
    ApplicationLifecycle(launchReason: reason, exitsOnSuspend: exitsOnSuspend, clock: clock)
  }

  private func record(_ application: ApplicationLifecycle, as name: String = "") -> ObservationToken {
    application.observe { [events] event in events.append("\(name)\(event)") }
  }

  @Test(
    "a launch by the user ends in the foreground, any other launch in the background", arguments: LaunchReason.allCases)
  func launch(reason: LaunchReason) async {
    let application = makeApplication(reason)
    let observation = record(application)
    #expect(application.currentState == .background)
    await application.launch()
    #expect(application.launchReason == reason)
    #expect(application.currentState == (reason == .user ? .foreground : .background))
    let entering = ["willEnterForeground", "didEnterForeground", "didBecomeActive"]
    #expect(events.entries == ["didLaunch"] + (reason == .user ? entering : []))
    await application.enterBackground()
    await application.launch()
    #expect(application.currentState == .background, "the second launch does nothing")
    observation.cancel()
  }

  @Test("observers are called one after the other, and each is awaited, until they cancel")
  func order() async {
    let application = makeApplication(.user)
    let slow = application.observe { [events] event in
      events.append("begins \(event)")
      for _ in 0..<10 { await Task.yield() }
      events.append("ends \(event)")
    }
    let other = record(application, as: "other ")
    await application.launch()
    slow.cancel()
    await application.enterBackground()
    #expect(
      events.entries == [
        "begins didLaunch", "ends didLaunch", "other didLaunch", "begins willEnterForeground",
        "ends willEnterForeground", "other willEnterForeground", "begins didEnterForeground", "ends didEnterForeground",
        "other didEnterForeground", "begins didBecomeActive", "ends didBecomeActive", "other didBecomeActive",
        "other willResignActive", "other didEnterBackground",
      ])
    other.cancel()
  }

  @Test("suspension and entering the background wait until the state is saved")
  func saving() async throws {
    let application = makeApplication(.user)
    let gate = Gate()
    let saves = application.observe { [events] event in
      if event == .didEnterBackground {
        await gate.pass()
        events.append("saved")
      }
    }
    await application.launch()
    let entering = Task {
      await application.enterBackground()
      events.append("in the background")
    }
    try await eventually("the state is being saved") { gate.waiting == 1 }
    #expect(application.currentState == .background, "the state changes at once")
    let suspending = Task {
      let suspension = await application.suspend()
      events.append("\(suspension)")
    }
    gate.open()
    await entering.value
    await suspending.value
    #expect(events.entries.first == "saved")
    #expect(Set(events.entries) == ["saved", "in the background", "suspended"])
    #expect(application.currentState == .suspended)
    saves.cancel()
  }

  @Test("suspension from the foreground passes through the background; willTerminate is the last event")
  func exitsOnSuspend() async {
    let application = makeApplication(.user, exitsOnSuspend: true)
    let observation = record(application)
    await application.launch()
    let suspension = await application.suspend()
    #expect(suspension == .terminated)
    #expect(
      events.entries == [
        "didLaunch", "willEnterForeground", "didEnterForeground", "didBecomeActive", "willResignActive",
        "didEnterBackground", "willTerminate",
      ])
    let again = await application.suspend()
    await application.enterForeground()
    #expect(again == .terminated)
    #expect(application.currentState == .suspended)
    #expect(events.entries.last == "willTerminate", "no event follows")
    #expect(events.entries.count == 7)
    observation.cancel()
  }

  @Test("suspension waits for background tasks, up to their time limit", arguments: [false, true])
  func tasks(ends: Bool) async throws {
    let application = makeApplication(.user)
    await application.launch()
    let task = application.backgroundTasks.begin("upload") { events.append("expired") }
    let suspending = Task {
      let suspension = await application.suspend()
      events.append("\(suspension)")
    }
    try await eventually("the time limit runs") { clock.sleeping == [30] }
    #expect(application.currentState == .background)
    if ends { application.backgroundTasks.end(task) } else { clock.advance(by: 30) }
    await suspending.value
    #expect(events.entries == (ends ? ["suspended"] : ["expired", "suspended"]))
  }

  @Test("suspension waits for a fetch, and a fetch wakes a suspended application")
  func fetch() async throws {
    let wake = Wake()
    let gate = Gate()
    _ = try await wake.begin(at: gate)
    let suspending = Task { await wake.application.suspend() }
    for _ in 0..<100 { await Task.yield() }
    #expect(wake.application.currentState == .background)
    gate.open()
    let suspension = await suspending.value
    #expect(suspension == .suspended)
    wake.clock.advance(by: 10_000)
    let outcome = await wake.fetcher.perform(reason: .push) { _ in
      #expect(wake.application.currentState == .background)
      return .noData
    }
    #expect(outcome.result == .noData)
  }

  @Test("suspension is refused if the application enters the foreground meanwhile, and content is loaded")
  func refused() async throws {
    let application = makeApplication(.user)
    await application.launch()
    let observation = record(application)
    let task = application.backgroundTasks.begin("upload")
    let suspending = Task { await application.suspend() }
    try await eventually("the time limit runs") { clock.sleeping == [30] }
    await application.enterForeground()
    let suspension = await suspending.value
    #expect(suspension == .refused)
    #expect(application.currentState == .foreground)
    #expect(
      events.entries == [
        "willResignActive", "didEnterBackground", "willEnterForeground", "didEnterForeground", "didBecomeActive",
      ])
    application.backgroundTasks.end(task)
    observation.cancel()
  }

  @Test("entering a state twice sends one event; entering the foreground after suspension loads the content")
  func twice() async {
    let application = makeApplication(.fetch)
    let observation = record(application)
    await application.enterBackground()
    await application.enterForeground()
    await application.enterForeground()
    _ = await application.suspend()
    await application.enterBackground()
    #expect(application.currentState == .suspended)
    await application.enterForeground()
    let entering = ["willEnterForeground", "didEnterForeground", "didBecomeActive"]
    #expect(events.entries == entering + ["willResignActive", "didEnterBackground"] + entering)
    observation.cancel()
  }

  @Test("an application in the foreground resigns being active and becomes active again, each with one event")
  func activity() async {
    let application = makeApplication(.user)
    #expect(!application.isActive)
    await application.becomeActive()
    #expect(!application.isActive, "an application in the background is not active")
    await application.launch()
    #expect(application.isActive)
    let observation = record(application)
    await application.becomeActive()
    await application.resignActive()
    await application.resignActive()
    #expect(!application.isActive && application.currentState == .foreground)
    await application.becomeActive()
    await application.resignActive()
    await application.enterBackground()
    #expect(!application.isActive)
    #expect(
      events.entries == ["willResignActive", "didBecomeActive", "willResignActive", "didEnterBackground"],
      "an inactive application does not resign again")
    observation.cancel()
  }

  @Test("events of concurrent changes are delivered in the order of the changes")
  func concurrentChanges() async {
    let application = makeApplication(.fetch)
    let observation = record(application)
    await withTaskGroup { group in
      for number in 0..<200 {
        group.addTask { number % 2 == 0 ? await application.enterForeground() : await application.enterBackground() }
      }
    }
    let states = events.entries.filter { $0.hasPrefix("didEnter") }
    let alternating = (0..<states.count).map { $0 % 2 == 0 ? "didEnterForeground" : "didEnterBackground" }
    #expect(states == alternating)
    let activity = events.entries.filter { $0.hasSuffix("Active") }
    #expect(activity == (0..<activity.count).map { $0 % 2 == 0 ? "didBecomeActive" : "willResignActive" })
    let isLimited = application.backgroundTasks.timeRemaining != nil
    #expect(isLimited == (application.currentState == .background))
    observation.cancel()
  }
}

@Suite("Reload gate")
struct ReloadGateTests {
  let reloads = Journal<String>()

  @Test("in the foreground, each request reloads at once")
  func foreground() async {
    let application = ApplicationLifecycle(launchReason: .user, clock: ManualClock())
    await application.launch()
    let gate = ReloadGate(application: application) { reloads.append("reload") }
    for count in 1...3 {
      gate.setNeedsReload()
      #expect(reloads.entries.count == count)
    }
  }

  @Test(
    "requests in the background reload once, after the application has entered the foreground and loaded its content")
  func background() async {
    let application = ApplicationLifecycle(launchReason: .fetch, clock: ManualClock())
    let loads = application.observe { event in
      if event == .didEnterForeground { reloads.append("load") }
    }
    let gate = ReloadGate(application: application) { reloads.append("reload") }
    for _ in 0..<5 { gate.setNeedsReload() }
    _ = await application.suspend()
    gate.setNeedsReload()
    #expect(reloads.entries.isEmpty)
    await application.enterForeground()
    #expect(reloads.entries == ["load", "reload"])
    await application.enterBackground()
    await application.enterForeground()
    #expect(reloads.entries == ["load", "reload", "load"], "there was no new request")
    loads.cancel()
  }

  @Test("a request while the application loads its content reloads once, for earlier requests too")
  func whileLoading() async {
    let application = ApplicationLifecycle(launchReason: .fetch, clock: ManualClock())
    let gates = Journal<ReloadGate>()
    let loads = application.observe { event in
      if event == .didEnterForeground { gates.entries[0].setNeedsReload() }
    }
    gates.append(ReloadGate(application: application) { reloads.append("reload") })
    gates.entries[0].setNeedsReload()
    await application.enterForeground()
    #expect(reloads.entries == ["reload"])
    loads.cancel()
  }

  @Test("no request is lost during a change from background to foreground")
  func races() async {
    let application = ApplicationLifecycle(launchReason: .fetch, clock: ManualClock())
    let gate = ReloadGate(application: application) { reloads.append("reload") }
    for round in 0..<500 {
      let before = reloads.entries.count
      async let asked: Void = { gate.setNeedsReload() }()
      await application.enterForeground()
      await asked
      #expect(reloads.entries.count == before + 1, "in round \(round)")
      await application.enterBackground()
    }
  }
}
