/// The epoch and version of a database snapshot.
public struct FeedVersion: Sendable, Hashable {
  /// The random id of the history to which the version belongs.
  public let epoch: String
  /// The version of the feed.
  public let version: Int
  /// A revision that changes with each new topic and with each change of a title or position; 0 if no topics were read.
  package let topicsRevision: Int

  package init(epoch: String, version: Int, topicsRevision: Int = 0) {
    self.epoch = epoch
    self.version = version
    self.topicsRevision = topicsRevision
  }
}
