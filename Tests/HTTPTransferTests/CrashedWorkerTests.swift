import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A transfer after a crash of its worker") struct CrashedWorkerTests {
  /// Leaves the record of an attempt behind, as a worker does that crashes during it.
  private func crash(_ fixture: TransferFixture, _ numbers: Int64...) throws {
    for number in numbers { try fixture.journal.beginAttempt(number, at: fixture.clock.now) }
  }

  /// Runs a worker that records the crash and begins no attempt, because there is no power.
  private func record(_ fixture: TransferFixture, _ number: Int64) async throws {
    try await fixture.working(obstacles: [.power]) {
      try await fixture.eventually("it waits") { try fixture.journal.transfer(number)?.obstacle == .power }
    }
  }

  @Test("fails after two crashes without progress; the others are completed")
  func twice() async throws {
    try await TransferFixture.with { fixture in
      let bad = try fixture.download { $0.isDiscretionary = true }
      let good = try fixture.download { $0.file = fixture.folder.appending(path: "good.bin") }
      try crash(fixture, bad)
      try await record(fixture, bad)
      #expect(try fixture.journal.transfer(bad)?.state == .running)
      try fixture.journal.suspend(good)
      try fixture.journal.resume(good, at: fixture.clock.now)
      try crash(fixture, bad)
      try await fixture.working {
        let transfer = try await fixture.end(of: bad)
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the process of the transfers has crashed 2 times during this one")
        try await fixture.finish(good)
      }
      #expect(try fixture.files() == ["good.bin"])
    }
  }

  @Test("begins a new count after progress, a reboot, a regular end and a resume by the user", arguments: 0..<4)
  func forgiven(number: Int) async throws {
    try await TransferFixture.with { fixture in
      let transfer = try fixture.download { $0.isDiscretionary = true }
      try crash(fixture, transfer)
      try await record(fixture, transfer)
      switch number {
      case 0: try Data([1]).write(to: fixture.folder.appending(path: ".output.bin.\(transfer).part"))
      case 1: break
      case 2:
        fixture.modify { response, _, _ in response.hanging(at: .start) }
        try await fixture.working {
          try await fixture.eventually("it is tried") { !fixture.server.requests.isEmpty }
        }
        fixture.modify { response, _, _ in response }
      default:
        try fixture.journal.suspend(transfer)
        try fixture.journal.resume(transfer, at: fixture.clock.now)
      }
      try crash(fixture, transfer)
      if number == 1 { fixture.clock.reboot() }
      try await fixture.working { try await fixture.finish(transfer) }
    }
  }

  @Test(
    "is logged once, unless the crash was a reboot or the user has resumed the transfer since", arguments: 0..<4)
  func logged(number: Int) async throws {
    let isCrash = number == 0
    try await TransferFixture.with { fixture in
      let lines = Mutex<[String]>([])
      let transfer = try fixture.download { $0.isDiscretionary = true }
      try crash(fixture, transfer)
      if number == 1 { fixture.clock.reboot() }
      if number == 2 {
        try fixture.journal.suspend(transfer)
        try fixture.journal.resume(transfer, at: fixture.clock.now)
      }
      if number == 3 { try await record(fixture, transfer) }
      try await fixture.working(log: { line in lines.withLock { $0.append(line) } }) {
        try await fixture.finish(transfer)
      }
      let line = "transfer \(transfer): the last worker has crashed during it"
      #expect(lines.withLock(\.self) == (isCrash ? [line] : []))
    }
  }

  @Test("is tried alone for ten seconds")
  func alone() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.hanging(at: .start) }
      // It was added first, and must wait nevertheless.
      _ = try fixture.download()
      let suspects = try (0..<2).map { index in
        try fixture.download { $0.file = fixture.folder.appending(path: "\(index).bin") }
      }
      for number in suspects { try crash(fixture, number) }
      try await fixture.working {
        let start = fixture.clock.now
        try await fixture.eventually("the first is tried") { !fixture.server.requests.isEmpty }
        // The clock stands still here.
        try await eventually("the worker waits no longer than ten seconds") {
          fixture.clock.sleeping.contains { $0 <= 10 }
        }
        try await fixture.eventually("the second is tried") { fixture.server.requests.count > 1 }
        #expect(fixture.clock.now.seconds(since: start) >= 10)
        try await fixture.eventually("all are tried") { fixture.server.requests.count == 3 }
        #expect(fixture.clock.now.seconds(since: start) >= 20)
      }
    }
  }

  @Test("is tried beside others after ten seconds, although it has come no further")
  func beside() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.hanging(at: .start) }
      let suspect = try fixture.download()
      _ = try fixture.download { $0.file = fixture.folder.appending(path: "other.bin") }
      try crash(fixture, suspect)
      try await fixture.working {
        // The clock stands still, so that no attempt ends.
        try await eventually("it is tried alone") {
          fixture.server.requests.count == 1 && fixture.clock.sleeping.contains(10)
        }
        fixture.clock.advance(by: 10)
        try await eventually("the other one is tried, too") { fixture.server.requests.count == 2 }
      }
    }
  }

  @Test("is not suspected after a regular end of its worker, which waits for the end of the attempt")
  func regularEnd() async throws {
    try await TransferFixture.with { fixture in
      let (number, transport) = (try fixture.download(), LingeringTransport())
      try await fixture.working(transport: transport) {
        try await eventually("it is tried") { transport.requests.value > 0 }
        let stored = try JSONEncoder().encode(try fixture.journal.transfer(number))
        #expect(String(decoding: stored, as: UTF8.self).contains(#""attempt":"#))
      }
      let stored = try JSONEncoder().encode(try fixture.journal.transfer(number))
      #expect(!String(decoding: stored, as: UTF8.self).contains(#""attempt":"#))
    }
  }

  @Test("is tried alone only until it has come further than at the crash")
  func progress() async throws {
    try await TransferFixture.with { fixture in
      // It takes two minutes.
      fixture.modify { response, _, number in
        number == 0 ? response.dripping(bytes: 50, every: .milliseconds(20)) : response
      }
      let suspect = try fixture.download { $0.file = fixture.folder.appending(path: "suspect.bin") }
      _ = try fixture.download()
      try crash(fixture, suspect)
      try await fixture.working {
        try await eventually("the first bytes have arrived") { try (fixture.partialSize() ?? 0) > 0 }
        #expect(fixture.server.requests.count == 1)
        // The next bytes are recorded.
        fixture.clock.advance(by: 1)
        try await eventually("the other one is tried") { fixture.server.requests.count == 2 }
      }
    }
  }
}
