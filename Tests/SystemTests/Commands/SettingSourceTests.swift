import Foundation
import TestSupport
import Testing
import tidings

/// The sources of settings, and the reports about unknown settings.
@Suite struct SettingSourceTests {
  private static func expectRefusal(_ result: ChildProcess.Result, naming texts: String...) {
    #expect(result.status == 78, "\(result.errors)")
    #expect(result.output == "")
    for text in texts { #expect(result.errors.contains(text), "\(result.errors)") }
    #expect(!result.errors.contains("listening"))
  }

  @Test("Unknown names and malformed lines of a file are named with their place, by the server and by doctor")
  func file() async throws {
    try await Installation.with { installation in
      let text = """
        TIDINGS_PROT=18099
        export DATABASE_URL=postgresql:///x
        TIDINGS_NOTHING_OF_THE_KIND=1
        DATABSE_URL=postgresql:///x
        PGAPPNAME=editor
        PGAPPNAME=reader
        """
      try await withFolder(["settings": text]) { folder in
        let file = folder.appending(path: "settings").path
        let refused = try await installation.run("serve", "--settings", file)
        Self.expectRefusal(
          refused, naming: "line 2: remove export",
          "TIDINGS_PROT is not a setting; the nearest name is TIDINGS_PORT",
          "TIDINGS_NOTHING_OF_THE_KIND", "DATABSE_URL is not a setting; the nearest name is DATABASE_URL",
          "line 6: sets PGAPPNAME, as line 5 does: remove one of them")
        #expect(!refused.errors.contains("PGAPPNAME is not"))
        let doctor = try await installation.run("doctor", "--settings", file)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("problem  settings") && doctor.output.contains("TIDINGS_PORT"))
        #expect(doctor.output.split(separator: "\n").count == 5)
      }
    }
  }

  @Test(
    "A misspelt name in the environment is refused; another unknown one is named, and names of other programs are not")
  func environment() async throws {
    try await Installation.with { installation in
      Self.expectRefusal(
        try await installation.run("serve", changes: ["TIDINGS_PROT": "18099"]), naming: "TIDINGS_PROT", "TIDINGS_PORT")
      // Kubernetes sets the last two for a service named "tidings".
      let changes = [
        "TIDINGS_SPEED": "9", "TIDINGS_SERVER": "http://x", "TIDINGS_SERVICE_HOST": "10.0.0.1",
        "TIDINGS_PORT": "tcp://10.0.0.1:8080",
      ]
      let migrated = try await installation.run("migrate", changes: changes)
      #expect(migrated.status == 0)
      #expect(migrated.errors.contains("TIDINGS_SPEED"))
      #expect(!migrated.errors.contains("TIDINGS_SERV"))
      let doctor = try await installation.run("doctor", changes: changes)
      #expect(doctor.status == 0)
      #expect(doctor.output.contains("warning  settings") && doctor.output.contains("TIDINGS_SPEED"))
    }
  }

  @Test(
    "A settings file that cannot be read is named with the reason",
    arguments: ["/nowhere", "/", "/dev/zero", "/proc/self/mem"])
  func unreadable(path: String) async throws {
    try await Installation.with(schema: false) { installation in
      for command in ["serve", "migrate"] {
        Self.expectRefusal(try await installation.run(command, "--settings", path), naming: "--settings", path)
      }
    }
  }

  @Test("The connection string may stand in a file, or come as a credential of systemd")
  func secrets() async throws {
    try await Installation.with { installation in
      let wrong = "postgresql://tidings@127.0.0.1:1/x"
      try await withFolder([
        "secret": installation.url + "\n", "credentials/database-url": installation.url, "two": "a\nb",
      ]) {
        folder in
        let secret = folder.appending(path: "secret").path
        let credentials = folder.appending(path: "credentials").path
        for changes in [
          ["DATABASE_URL": "", "DATABASE_URL_FILE": secret],
          ["DATABASE_URL": "", "CREDENTIALS_DIRECTORY": credentials],
        ] {
          #expect(try await installation.run("migrate", "--check", changes: changes).status == 0)
        }
        // A setting takes precedence over a credential.
        let explicit = ["DATABASE_URL": wrong, "CREDENTIALS_DIRECTORY": credentials]
        #expect(try await installation.run("migrate", "--check", changes: explicit).status == 69)
        Self.expectRefusal(
          try await installation.run("serve", changes: ["DATABASE_URL_FILE": secret]), naming: "DATABASE_URL_FILE",
          "remove one")
        for path in [folder.appending(path: "two").path, "/nowhere", "/"] {
          let changes = ["DATABASE_URL": "", "DATABASE_URL_FILE": path]
          Self.expectRefusal(try await installation.run("serve", changes: changes), naming: "DATABASE_URL_FILE", path)
        }
        Self.expectRefusal(
          try await installation.run("serve", changes: ["DATABASE_READ_URL_FILE": "/nowhere"]),
          naming: "DATABASE_READ_URL_FILE")
      }
    }
  }

  @Test("A relative path of a file or folder is refused by name, by the server and by doctor")
  func relativePaths() async throws {
    try await Installation.with(schema: false) { installation in
      let names = SettingTable.names.filter {
        $0.hasSuffix("_FILE") || $0.hasSuffix("_DIRECTORY")
          || ["TIDINGS_FCM_CREDENTIALS", "TIDINGS_MIGRATIONS", "TIDINGS_OPENAPI"].contains($0)
      }
      #expect(names.count == 10)
      for name in names {
        for path in ["files/x", "./x", "~/x", "x"] {
          let rule = "\(name) must be an absolute path, which begins with /, not \(path)"
          let changes = ["DATABASE_URL": name == "DATABASE_URL_FILE" ? "" : installation.url, name: path]
          Self.expectRefusal(try await installation.run("serve", changes: changes), naming: rule)
          guard path == "x" else { continue }
          let doctor = try await installation.run("doctor", changes: changes)
          #expect(doctor.status == 1 && doctor.output.contains("problem  settings") && doctor.output.contains(rule))
        }
      }
    }
  }

  @Test("Names of libpq in a settings file reach libpq")
  func libraryNames() async throws {
    try await Installation.with { installation in
      let components = try #require(URLComponents(string: installation.url))
      let text = """
        PGHOST=127.0.0.1
        PGPORT=\(try #require(components.port))
        PGUSER=tidings
        PGDATABASE=\(components.path.dropFirst())
        """
      try await withFolder(["settings": text]) { folder in
        let file = folder.appending(path: "settings").path
        let result = try await installation.run("migrate", "--check", "--settings", file, changes: ["DATABASE_URL": ""])
        #expect(result.status == 0, "\(result.errors)")
      }
    }
  }
}
