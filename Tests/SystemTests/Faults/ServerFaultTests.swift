import Foundation
import TestSupport
import Testing

extension FaultTests {
  @Test(
    "During a rolling restart behind nginx, no read and no write fails",
    .enabled(if: Proxy.isInstalled), arguments: [true, false])
  func rollingRestart(cache: Bool) async throws {
    try await Installation.with { installation in
      try await Replicas.with(installation, cache: cache) { replicas in
        let rounds = Self.runsLongTests ? 10 : 2
        let seen = try await ServerUsers.with(
          ServerUsers.Numbers(writers: 4, readers: 4, followers: 1), servers: [replicas.proxy.client],
          key: replicas.key, sql: installation.sql
        ) { users in
          try await users.waitForWrites()
          for index in (0..<rounds).flatMap({ _ in 0..<2 }) {
            try await replicas.restart(index, by: SIGTERM)
            try await users.waitForWrites()
          }
        }
        Self.check(seen, refusals: [])
        Self.report(
          "Both replicas restarted one after the other, \(rounds) times, nginx \(cache ? "with" : "without") a cache",
          promised: "no failed read or write", seen: Self.summary(seen))
      }
    }
  }

  @Test("When a replica is killed behind nginx, no read fails and no write is lost", .enabled(if: runsLongTests))
  func serverKilled() async throws {
    try await Installation.with { installation in
      try await Replicas.with(installation, cache: false) { replicas in
        let seen = try await ServerUsers.with(
          ServerUsers.Numbers(readers: 4), servers: [replicas.proxy.client], key: replicas.key, sql: installation.sql
        ) { users in
          try await users.waitForWrites()
          for round in 0..<10 {
            try await replicas.restart(round % 2, by: SIGKILL)
            try await users.waitForWrites()
          }
        }
        // The outcome of a write that was in progress is unknown. A response that nginx was passing on breaks off: 0.
        Self.check(seen, refusals: [0, 502, 503])
        Self.report(
          "kill -9 of a replica, ten times",
          promised: "no failed read behind nginx, no acknowledged write lost, all followers equal to the table",
          seen: Self.summary(seen) + " (502: the outcome is unknown)")
      }
    }
  }
}
