package dev.raddle.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the text of the page; {@link RunPageInBrowserTest} checks it in a browser. */
class RunPageTest {
    @TempDir
    private Path directory;

    private static String hash(String page, String element) throws Exception {
        Matcher matcher = Pattern.compile("<" + element + ">(.*?)</" + element + ">", Pattern.DOTALL)
                .matcher(page);
        assertThat(matcher.find()).isTrue();
        byte[] content = matcher.group(1).getBytes(StandardCharsets.UTF_8);
        assertThat(matcher.find()).as("a second " + element).isFalse();
        return "'sha256-"
                + Base64.getEncoder()
                        .encodeToString(MessageDigest.getInstance("SHA-256").digest(content)) + "'";
    }

    @Test
    void its_policy_allows_its_own_script_and_style_by_their_hashes_and_nothing_else() throws Exception {
        String page = Files.readString(Pages.build(directory));

        assertThat(page)
                .contains("content=\"default-src 'none'; style-src " + hash(page, "style") + "; script-src "
                        + hash(page, "script") + "; base-uri 'none'; form-action 'none'\"")
                .doesNotContain("unsafe-inline", "-HASH@", " style=\"", " onclick=");
    }
}
