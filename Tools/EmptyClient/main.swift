// Does nothing, but links everything that the client's command links: the cost of a process before its first line.
import NewsClient
