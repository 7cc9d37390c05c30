import BackgroundFetch
import Dispatch
import Testing

@Suite("Fetch completion")
struct FetchCompletionTests {
  let results = Journal<FetchResult>()
  let log = Journal<String>()

  @Test("only the first result counts, later ones are logged", arguments: FetchResult.allCases)
  func once(first: FetchResult) {
    let completion = FetchCompletion(log: log.append, handler: results.append)
    #expect(completion(first))
    for late in FetchResult.allCases { #expect(!completion(late)) }
    #expect(results.entries == [first])
    #expect(
      log.entries == FetchResult.allCases.map { "a completion was called again; the result \($0.rawValue) is ignored" })
  }

  @Test("a completion that is released without a result reports failed")
  func dropped() {
    _ = FetchCompletion(log: log.append, handler: results.append)
    #expect(results.entries == [.failed])
    #expect(log.entries == ["a completion was released without a result; the fetch counts as failed"])
  }

  @Test("a completion that was called logs nothing on release")
  func droppedAfterwards() {
    FetchCompletion(log: log.append, handler: results.append)(.noData)
    #expect(results.entries == [.noData])
    #expect(log.entries.isEmpty)
  }

  @Test("a handler may call its completion again")
  func reentrant() {
    let again = Journal<Bool>()
    let itself = Journal<FetchCompletion>()
    let completion = FetchCompletion(log: log.append) { _ in again.append(itself.entries[0](.noData)) }
    itself.append(completion)
    completion(.newData)
    #expect(again.entries == [false])
  }

  @Test("exactly one of many concurrent calls counts")
  func threads() {
    for _ in 0..<1_000 {
      let first = Journal<Bool>()
      let completion = FetchCompletion(handler: results.append)
      DispatchQueue.concurrentPerform(iterations: 4) { _ in if completion(.noData) { first.append(true) } }
      #expect(first.entries.count == 1)
    }
    #expect(results.entries.count == 1_000)
  }
}
