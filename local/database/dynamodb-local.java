import java.io.IOException;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Runs DynamoDB Local, which has no option for its address, on 127.0.0.1 and a free port. Prints the port when it
 * accepts requests. Ends when its standard input does: the operating system closes that pipe with the parent process.
 *
 * Run from source (JEP 330). The arguments are those of DynamoDB Local.
 */
class DynamoDbLocal {
  public static void main(String[] args) throws Exception {
    new Thread(DynamoDbLocal::exitWithParent).start();
    var engine = ServerRunner.createServerFromCommandLineArgs(args);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    var connector = (ServerConnector) ((Server) field.get(engine)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    engine.start();
    System.out.println("Listening on port " + connector.getLocalPort());
  }

  private static void exitWithParent() {
    try {
      while (System.in.read() >= 0);
    } catch (IOException error) {
      // The pipe is gone, too.
    }
    System.exit(0);
  }
}
