import Foundation
import PackagePlugin

/// Writes the files in some folders of a target into Swift sources, so that the program contains them.
///
/// The folder `Templates` becomes `embeddedTemplates`, a list of names and texts that is sorted by name. The build writes
/// it again after a file was edited, added or deleted. A folder may be a symbolic link, or have one for a file.
@main
struct EmbedPlugin: BuildToolPlugin {
  private static let folders = ["Assets", "Contract", "Migrations", "Templates", "Texts"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let embed = try context.tool(named: "embed").url
    return try Self.folders.compactMap { name in
      // SwiftPM notices a deleted file only below the folder of a target; the build follows the file itself.
      let folder = target.directoryURL.appending(path: name).resolvingSymlinksInPath()
      guard FileManager.default.fileExists(atPath: folder.path) else { return nil }
      let files = try FileManager.default
        .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        .map { $0.resolvingSymlinksInPath() }
        .sorted { $0.path < $1.path }
      let source = context.pluginWorkDirectoryURL.appending(path: "Embedded\(name).swift")
      return .buildCommand(
        displayName: "Embedding \(target.name)/\(name)", executable: embed,
        arguments: ["embedded\(name)", source.path] + files.map(\.path),
        inputFiles: [folder] + files, outputFiles: [source])
    }
  }
}
