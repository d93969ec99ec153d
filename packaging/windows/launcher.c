/* What AI clients start on Windows: %USERPROFILE%\.tooltray\bin\tooltray-bridge.exe, one path that never changes.

   It starts the bridge of the first installation that is there, with the same standard handles and arguments, and ends as that ends. Which
   ones there are stands in tooltray-bridge.txt beside it (UTF-8; each line: the program, a tab, its command line), written by
   installs/bridge_file.py. So an update writes a text, never a program that runs. Without any installation it answers each request
   with an error, so that the AI client shows a person what to do.

   A program without a console (-mwindows): no window flashes where a client that has none starts it. */
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (64 * 1024)
#define MOST_CHARACTERS 32767 /* of a path and of a command line */
#define NO_INSTALLATION "-32000"
#define MESSAGE \
    "No installation of Tooltray is there any more. Install Tooltray again, or remove this entry from the AI client. " \
    "If it is installed, start it once, or run: tooltray doctor"

static wchar_t path[MOST_CHARACTERS + 1], line[MOST_CHARACTERS + 1];

/* The list of bridges as text, or NULL. */
static wchar_t *read_list(void) {
    DWORD length = GetModuleFileNameW(NULL, path, MOST_CHARACTERS), got = 0;
    if (length < 4 || length >= MOST_CHARACTERS) return NULL;
    wcscpy(path + length - 4, L".txt");
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) return NULL;
    static char bytes[MOST_BYTES + 1];
    static wchar_t text[MOST_BYTES + 1];
    BOOL is_read = ReadFile(file, bytes, MOST_BYTES, &got, NULL);
    CloseHandle(file);
    if (!is_read) return NULL;
    text[MultiByteToWideChar(CP_UTF8, 0, bytes, (int)got, text, MOST_BYTES)] = 0;
    return text;
}

/* The arguments that this program was given, as they were written. */
static const wchar_t *own_arguments(void) {
    const wchar_t *rest = GetCommandLineW();
    if (*rest == L'"') {
        for (rest++; *rest && *rest != L'"'; rest++) {}
        if (*rest) rest++;
    } else {
        while (*rest && *rest != L' ' && *rest != L'\t') rest++;
    }
    return rest;
}

/* Runs a bridge to its end. Returns whether it could be started. */
static BOOL run(const wchar_t *program, const wchar_t *command, DWORD *code) {
    if (wcslen(command) + wcslen(own_arguments()) >= MOST_CHARACTERS) return FALSE;
    wcscpy(line, command);
    wcscat(line, own_arguments());
    STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    PROCESS_INFORMATION child;
    /* a bridge ends with its launcher; the hub that it may start leaves the job (CREATE_BREAKAWAY_FROM_JOB) */
    HANDLE job = CreateJobObjectW(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_BREAKAWAY_OK;
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    if (!CreateProcessW(program, line, NULL, NULL, TRUE, CREATE_NO_WINDOW | CREATE_SUSPENDED, NULL, NULL, &start, &child)) return FALSE;
    AssignProcessToJobObject(job, child.hProcess); /* where another job forbids it, the bridge ends with its client's pipes */
    ResumeThread(child.hThread);
    CloseHandle(start.hStdInput); /* who is at their other ends must see when the bridge closes them */
    CloseHandle(start.hStdOutput);
    WaitForSingleObject(child.hProcess, INFINITE);
    GetExitCodeProcess(child.hProcess, code);
    return TRUE;
}

/* Answers every request on standard input with an error. */
static void refuse(void) {
    static char request[1 << 20];
    while (fgets(request, sizeof request, stdin)) {
        char *id = strstr(request, "\"id\":");
        if (!id || !strstr(request, "\"method\"")) continue;
        for (id += 5; *id == ' '; id++) {}
        size_t length = *id == '"' ? strcspn(id + 1, "\"") + 2 : strspn(id, "0123456789.-");
        if (!length || length > 200) continue;
        printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":" NO_INSTALLATION ",\"message\":\"" MESSAGE "\"}}\n", (int)length, id);
        fflush(stdout);
    }
}

int WINAPI WinMain(HINSTANCE own, HINSTANCE before, LPSTR arguments, int show) {
    DWORD code = 1;
    wchar_t *text = read_list();
    for (wchar_t *each = text ? wcstok(text, L"\r\n") : NULL; each; each = wcstok(NULL, L"\r\n")) {
        wchar_t *tab = wcschr(each, L'\t');
        if (!tab) continue;
        *tab = 0;
        if (GetFileAttributesW(each) != INVALID_FILE_ATTRIBUTES && run(each, tab + 1, &code)) return (int)code;
    }
    refuse();
    return 0;
}
