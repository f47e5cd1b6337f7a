import com.almworks.sqlite4java.SQLiteException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.logging.Logger;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;
import software.amazon.awssdk.services.dynamodb.model.ListTablesRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;
import software.amazon.dynamodb.services.local.server.LocalDynamoDBRequestHandler;
import software.amazon.dynamodb.services.local.server.LocalDynamoDBServerHandler;

/**
 * Runs DynamoDB Local on 127.0.0.1, which its own command cannot. It ends with its standard input, which the operating
 * system closes with the parent process.
 *
 * It runs from source (JEP 330). The argument is the data folder; default: in memory.
 */
class DynamoDbLocal {
  private static final Logger SQLITE = Logger.getLogger("com.almworks.sqlite4java");
  /** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL. */
  private static final Set<Integer> DISK = Set.of(8, 10, 13);

  public static void main(String[] args) throws Exception {
    new Thread(DynamoDbLocal::exitWithParent).start();
    useLibraryInPlace();
    exitOnFailedWrite();
    // This class limits what the engine logs.
    Class.forName("software.amazon.dynamodb.services.local.main.ServerRunner");
    var server = new Server(new InetSocketAddress("127.0.0.1", 0));
    server.setHandler(new Guard(new Database(args.length == 0 ? null : args[0])));
    server.start();
    System.out.println("http://127.0.0.1:" + server.getURI().getPort());
  }

  /** Without this, each start copies the library to the temporary folder. */
  private static void useLibraryInPlace() {
    var isMac = System.getProperty("os.name").startsWith("Mac");
    var system = (isMac ? "osx-" : "linux-") + System.getProperty("os.arch");
    System.setProperty("org.sqlite.lib.path", System.getProperty("java.library.path"));
    System.setProperty("org.sqlite.lib.name", "libsqlite4java-" + system + (isMac ? ".dylib" : ".so"));
  }

  /** The engine only logs a failed write, as on a full disk, and may acknowledge it. This ends the process before. */
  private static void exitOnFailedWrite() {
    SQLITE.setFilter(
        record -> {
          if (record.getThrown() instanceof SQLiteException error && DISK.contains(error.getBaseErrorCode())) {
            System.err.println("The data folder cannot be written: " + error.getMessage());
            Runtime.getRuntime().halt(1);
          }
          return true;
        });
  }

  /** Does the same as `refuseOtherSites` (lib/pages/loopback-server.ts). */
  private static class Guard extends LocalDynamoDBServerHandler {
    Guard(LocalDynamoDBRequestHandler database) {
      super(database, null);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      var host = "127.0.0.1:" + Request.getLocalPort(request);
      var headers = request.getHeaders();
      if (!host.equals(headers.get("Host"))) {
        response.setStatus(302);
        response.getHeaders().put("Location", "http://" + host);
      } else if (!headers.getValuesList("Origin").stream().allMatch(("http://" + host)::equals)) {
        response.setStatus(403);
      } else {
        return super.handle(request, response, callback);
      }
      callback.succeeded();
      return true;
    }
  }

  private static class Database extends LocalDynamoDBRequestHandler {
    Database(String folder) throws Exception {
      super(0, folder == null, folder, true, false);
    }

    /** The engine does not wait for the commit. The next statement is queued behind it. */
    @Override
    public TransactWriteItemsResponse transactWriteItems(
        String accessKey, String region, TransactWriteItemsRequest request) {
      var response = super.transactWriteItems(accessKey, region, request);
      listTables(accessKey, region, ListTablesRequest.builder().limit(1).build());
      return response;
    }
  }

  private static void exitWithParent() {
    try {
      while (System.in.read() >= 0);
    } catch (IOException error) {
      // A broken pipe is an end, too.
    }
    System.exit(0);
  }
}
