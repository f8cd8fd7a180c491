package rig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;

/** Password check of the rig's HiveServer2: "user:password" lines of the file named by -Drig.users, read at every login. */
public class FileAuth implements PasswdAuthenticationProvider {
  @Override
  public void Authenticate(String user, String password) throws AuthenticationException {
    try {
      if (Files.readAllLines(Paths.get(System.getProperty("rig.users"))).contains(user + ":" + password)) {
        return;
      }
    } catch (IOException e) {
      throw new AuthenticationException("cannot read the users file", e);
    }
    throw new AuthenticationException("bad user or password: " + user);
  }
}
