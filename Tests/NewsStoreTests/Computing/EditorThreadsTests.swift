import Foundation
import NewsStore
import Synchronization
import TestKit
import Testing

@Suite struct EditorThreadsTests {
  @Test("An editor with very many steps delays each other editor by one step")
  func turns() async throws {
    let threads = EditorThreads(count: 1)
    let (hasBegun, isOpen) = (Flag(), Flag())
    let order = Mutex<[String]>([])
    func step(_ editor: String) -> Task<Void, Never> {
      Task(executorPreference: threads.executor(for: editor)) { order.withLock { $0.append(editor) } }
    }
    let first = Task(executorPreference: threads.executor(for: "script")) {
      hasBegun.set()
      while !isOpen.isSet { usleep(1000) }
    }
    try await eventually("the thread is busy") { hasBegun.isSet }
    let steps = (0..<50).map { _ in step("script") } + [step("desk"), step("desk")]
    isOpen.set()
    for step in [first] + steps { await step.value }
    let last = order.withLock { $0 }.lastIndex(of: "desk")
    #expect(last ?? .max <= 3)
    #expect(order.withLock { $0.count } == 52)
  }
}
