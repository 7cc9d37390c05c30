// Does nothing, with all that the client's command is linked with: what a process costs before its first line.
import NewsClient
