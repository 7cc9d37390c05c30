import NewsDelivery
import Testing

/// The rule that pauses a push service.
@Suite struct PauseRuleTests {
  /// - Parameter time: The time of the answers in seconds.
  private static func note(_ rule: inout PauseRule, _ answer: PauseRule.Answer, _ count: Int, at time: Double = 100) {
    for _ in 0..<count { rule.note(answer, at: time) }
  }

  @Test("More than 5 % token errors within a minute pause a service, from 20 answers on")
  func tokenErrors() {
    var rule = PauseRule()
    Self.note(&rule, .tokenError, 19)
    #expect(rule.violation(at: 100, countsFailures: true) == nil)
    Self.note(&rule, .fine, 361)
    #expect(rule.violation(at: 100, countsFailures: true) == nil)
    Self.note(&rule, .tokenError, 1)
    #expect(rule.violation(at: 100, countsFailures: false)?.contains("20 of 381") == true)
  }

  @Test("Failures of more than half of the messages pause a service whose failures concern all devices")
  func failures() {
    var rule = PauseRule()
    Self.note(&rule, .failure, 30)
    Self.note(&rule, .fine, 30)
    #expect(rule.violation(at: 100, countsFailures: true) == nil)
    Self.note(&rule, .failure, 1)
    #expect(rule.violation(at: 100, countsFailures: false) == nil)
    #expect(rule.violation(at: 100, countsFailures: true)?.contains("31 of 61") == true)
  }

  @Test("Answers count for about a minute")
  func window() {
    var rule = PauseRule()
    Self.note(&rule, .tokenError, 20, at: 100)
    #expect(rule.violation(at: 159, countsFailures: false) != nil)
    #expect(rule.violation(at: 161, countsFailures: false) == nil)
    Self.note(&rule, .fine, 20, at: 161)
    #expect(rule.violation(at: 161, countsFailures: false) == nil)
    Self.note(&rule, .tokenError, 2, at: 165)
    #expect(rule.violation(at: 165, countsFailures: false) != nil)
    rule.reset()
    #expect(rule.violation(at: 165, countsFailures: false) == nil)
  }

  @Test("Pauses double from a minute to a quarter of an hour, and are not shorter than an answer demands")
  func lengths() {
    #expect([0, 1, 2, 3, 4, 5, 1000].map { PauseRule.pause(after: $0) } == [60, 120, 240, 480, 900, 900, 900])
    #expect(PauseRule.pause(after: 0, atLeast: 300) == 300 && PauseRule.pause(after: 3, atLeast: 300) == 480)
    #expect(PauseRule.pause(after: 9, atLeast: 7200) == 7200)
  }

  @Test("Reports come at once, then every ten minutes with the number of events in between")
  func reports() {
    var interval = ReportInterval()
    #expect(interval.note(at: 5) == 1)
    for second in stride(from: 6.0, to: 605, by: 1) { #expect(interval.note(at: second) == nil) }
    #expect(interval.note(at: 605) == 600)
    #expect(interval.note(at: 606) == nil)
    #expect(interval.note(at: 9000) == 2)
  }
}
