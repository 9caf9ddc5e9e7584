//! A forge.

mod api;
mod content;

use std::path::{Path, PathBuf};

use serde_json::json;

use super::process::{self, Launch, Process};
use super::{bed, room};

pub use api::{Answer, GiteaApi};

const ADMIN: &str = "keeper";

/// A Gitea with its own database and repositories, and a Helm repository for every owner.
///
/// What it offers is set-up, and raw calls for everything else ([`Gitea::api`]): tests look at the forge themselves, not
/// with the client that they try.
#[derive(Debug)]
pub struct Gitea {
    process: Process,
    port: u16,
    admin: Account,
}

/// Somebody with an account.
#[derive(Debug, Clone)]
pub struct Account {
    /// The name to sign in with.
    pub name: String,
    /// The password.
    pub password: String,
    /// A token that may do everything that the account may.
    pub token: String,
}

impl Gitea {
    /// A new Gitea, with an administrator.
    pub async fn start() -> Self {
        let folder = room::new_folder(&room::unique("gitea"));
        let installation = Installation { folder };
        let installed = installation.clone();
        let admin = tokio::task::spawn_blocking(move || installed.install()).await;
        let admin = admin.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(reason) => std::panic::resume_unwind(reason),
            Err(error) => panic!("setting up Gitea failed: {error}"),
        });
        let plan = || {
            let port = room::free_port();
            installation.configure(port);
            (installation.launch(), port)
        };
        let ready = async |port: &u16| process::answers(&format!("http://127.0.0.1:{port}/api/healthz")).await;
        let (process, port) = Process::start(plan, ready).await;
        Self { process, port, admin }
    }

    /// Where it answers, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its log.
    pub fn log(&self) -> &Path {
        self.process.log()
    }

    /// Who may do everything.
    pub fn admin(&self) -> &Account {
        &self.admin
    }

    /// Raw calls by the administrator.
    pub fn api(&self) -> GiteaApi {
        self.api_of(&self.admin)
    }

    /// Raw calls by this account.
    pub fn api_of(&self, account: &Account) -> GiteaApi {
        GiteaApi::new(&self.url(), account)
    }

    /// Creates a user, and a token for it.
    pub async fn create_user(&self, name: &str) -> Account {
        let password = room::secret(16);
        let body = json!({
            "username": name,
            "email": format!("{name}@example.org"),
            "password": password,
            "must_change_password": false,
        });
        self.api().post_json("/admin/users", &body).await;
        let mut account = Account { name: name.to_owned(), password, token: String::new() };
        account.token = self.create_token(&account, &["all"]).await;
        account
    }

    /// Creates a token with these scopes, such as `write:repository`.
    pub async fn create_token(&self, account: &Account, scopes: &[&str]) -> String {
        let body = json!({ "name": room::unique("token"), "scopes": scopes });
        let by_password = GiteaApi::with_password(&self.url(), account);
        let answer = by_password.post_json(&format!("/users/{}/tokens", account.name), &body).await;
        answer["sha1"].as_str().unwrap_or_else(|| panic!("Gitea gave no token: {answer}")).to_owned()
    }

    /// Creates an organisation, which the administrator owns.
    pub async fn create_organisation(&self, name: &str) {
        self.api().post_json("/orgs", &json!({ "username": name })).await;
    }
}

/// A Gitea on disk.
#[derive(Debug, Clone)]
struct Installation {
    folder: PathBuf,
}

impl Installation {
    /// Creates the database and the administrator.
    fn install(&self) -> Account {
        room::write(&self.folder.join("internal-token"), self.run(&["generate", "secret", "INTERNAL_TOKEN"]));
        self.configure(0);
        self.run(&["migrate"]);
        let password = room::secret(16);
        self.run(&[
            "admin",
            "user",
            "create",
            "--admin",
            "--username",
            ADMIN,
            "--password",
            &password,
            "--email",
            "keeper@example.org",
            "--must-change-password=false",
        ]);
        let words = ["admin", "user", "generate-access-token", "--username", ADMIN, "--scopes", "all", "--raw"];
        let token = self.run(&words);
        // Log lines may come before it and after it.
        let is_token = |line: &&str| line.len() == 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found = token.lines().map(str::trim).find(is_token).map(str::to_owned);
        let token = found.unwrap_or_else(|| panic!("Gitea named no token: {token}"));
        Account { name: ADMIN.to_owned(), password, token }
    }

    /// Writes `app.ini`.
    fn configure(&self, port: u16) {
        let at = |name: &str| self.folder.join(name).display().to_string();
        let shared = bed::present("gitea").display().to_string();
        let settings = format!(
            "\
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {shared}
APP_DATA_PATH = {data}
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = {database}
[repository]
ROOT = {repositories}
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = {secret}
INTERNAL_TOKEN_URI = file:{token}
PASSWORD_HASH_ALGO = pbkdf2$1000$50
[oauth2]
ENABLED = false
[webhook]
ALLOWED_HOST_LIST = *
[cron.update_checker]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
MODE = console
",
            data = at("data"),
            database = at("gitea.db"),
            repositories = at("repositories"),
            secret = "for-tests-only",
            token = at("internal-token"),
        );
        room::write(&self.folder.join("app.ini"), settings);
    }

    fn launch(&self) -> Launch {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let arguments = vec!["-c".to_owned(), self.folder.join("app.ini").display().to_string(), "web".to_owned()];
        let environment = vec![("GITEA_WORK_DIR", self.folder.display().to_string())];
        Launch { name, program: "gitea", arguments, environment }
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command = process::command(bed::program("gitea"));
        command.env("GITEA_WORK_DIR", &self.folder).arg("-c").arg(self.folder.join("app.ini")).args(arguments);
        let words = arguments.first().copied().unwrap_or_default();
        let output = command.output().unwrap_or_else(|error| panic!("running `gitea {words}` failed: {error}"));
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`gitea {words}` failed: {stdout}{stderr}");
        stdout
    }
}
