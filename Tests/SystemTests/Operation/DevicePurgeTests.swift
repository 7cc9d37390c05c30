import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The deletion of devices by a running server.
@Suite struct DevicePurgeTests {
  @Test("A server deletes devices that have not renewed, or not confirmed in time, and what they are owed; no others")
  func purge() async throws {
    try await Installation.with { installation in
      _ = try await installation.sql.query(
        """
        INSERT INTO devices (id, secret_digest, provider, kind, address, address_digest, host, p256dh, auth, alerts,
          state, created_at, registered_at, expires_at)
        SELECT gen_random_uuid(), sha256('x'), CASE WHEN p.is_pending THEN 'webpush' ELSE 'fcm' END,
          CASE WHEN p.is_pending THEN 'browser' ELSE 'app' END, p.name, sha256(p.name::bytea),
          CASE WHEN p.is_pending THEN 'push.example' END, CASE WHEN p.is_pending THEN 'x'::bytea END,
          CASE WHEN p.is_pending THEN 'x'::bytea END, false, CASE WHEN p.is_pending THEN 'pending' ELSE 'active' END,
          now() - p.age, now() - p.age, now() - p.age + interval '90 days'
        FROM (VALUES ('expired', false, interval '91 days'), ('renewed', false, interval '89 days'),
          ('unconfirmed', true, interval '61 minutes'), ('waiting', true, interval '30 minutes')) AS p (name, is_pending, age)
        """)
      _ = try await installation.sql.query(
        "INSERT INTO deliveries (device, provider, due_at) SELECT id, provider, 'infinity' FROM devices")
      try await installation.serve { _ in
        try await eventually("two devices are left") {
          try await installation.value("SELECT count(*) FROM devices") == 2
        }
      }
      let names = try await installation.sql.query(
        """
        SELECT d.address FROM devices AS d JOIN deliveries AS o ON o.device = d.id
        WHERE (SELECT count(*) FROM deliveries) = 2 ORDER BY d.address
        """
      ).map { try $0.decode("address", as: String.self) }
      #expect(names == ["renewed", "waiting"])
    }
  }
}
