; The installer for Windows: per user, without a question about rights. Made by packaging/windows/build.py, which defines SOURCE (the
; programs), UNINSTALLER, PICTURE, SITE if there is one, and what common.nsh says. `/S` is silent. Each version has a folder of its own, so
; that an update writes over nothing that runs: bridges of the version before go on until their AI clients leave. Folders of other versions
; are marked; Tooltray removes them when no process runs from them (foundation/installs/old_versions.py), and a bridge in one starts the hub
; of this version.
!include "common.nsh"
!include "FileFunc.nsh"
!include "WordFunc.nsh"

OutFile "${OUTPUT}"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
SetCompressor /SOLID lzma
SetCompressorDictSize 64 ; MB: both programs with the app in them, which are nearly the same, are in sight of each other
VIAddVersionKey "FileDescription" "Tooltray installer"

!define SUMMARY "One home for your MCP servers"
!define MUI_WELCOMEFINISHPAGE_BITMAP "${PICTURE}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\${VERSION}\tooltray-app.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start Tooltray"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro LANGUAGES

LangString CANNOT_WRITE ${LANG_ENGLISH} "Files cannot be written to $INSTDIR\${VERSION}. Nothing was changed."
LangString CANNOT_WRITE ${LANG_TRADCHINESE} "無法寫入 $INSTDIR\${VERSION}，沒有任何變更。"

Var WasRunning
Var Before
Var IsComplete ; whether this version is there already

Function .onInit
    !insertmacro ONE_AT_A_TIME
FunctionEnd

; also where NSIS itself gives up, for want of room: what runs stays as it is, and is started as before
Function .onInstFailed
    ${If} $IsComplete == 0
        SetOutPath "$TEMP"
        RMDir /r "$INSTDIR\${VERSION}"
        RMDir "$INSTDIR"
    ${EndIf}
FunctionEnd

Section
    StrCpy $WasRunning 0
    ReadRegStr $Before HKCU "${KEY}" "DisplayVersion"
    StrCpy $IsComplete 0
    ${If} $Before == "${VERSION}"
    ${OrIf} ${FileExists} "$INSTDIR\${VERSION}\${SUPERSEDED}" ; a version that comes back
        StrCpy $IsComplete 1
    ${EndIf}
    ${If} ${FileExists} "$INSTDIR\${VERSION}\tooltray-bridge.exe"
        ClearErrors
        FileOpen $0 "$INSTDIR\${VERSION}\tooltray-bridge.exe" a
        ${If} ${Errors}
            StrCpy $IsComplete 1 ; a bridge runs, and holds what an uninstaller could not remove
        ${Else}
            FileClose $0
        ${EndIf}
    ${EndIf}
    Delete "$INSTDIR\${VERSION}\${SUPERSEDED}"
    ; the same version again: its programs may run, so they end first
    ReadEnvStr $3 USERPROFILE
    ${If} ${FileExists} "$3\.tooltray\run\hub.json"
        StrCpy $WasRunning 1
    ${EndIf}
    ${If} ${FileExists} "$INSTDIR\${VERSION}\tooltray.exe"
        nsExec::Exec '"$INSTDIR\${VERSION}\tooltray.exe" stop'
        Pop $0
        Delete "$INSTDIR\${VERSION}\*.old"
        Rename "$INSTDIR\${VERSION}\tooltray-bridge.exe" "$INSTDIR\${VERSION}\tooltray-bridge.exe.old"
    ${EndIf}
    ClearErrors
    SetOverwrite try
    SetOutPath "$INSTDIR\${VERSION}"
    File /r "${SOURCE}\*"
    ${If} ${Errors}
    ${AndIf} $IsComplete == 0 ; else they are the same, and in use
        MessageBox MB_OK|MB_ICONSTOP "$(CANNOT_WRITE)" /SD IDOK
        Abort
    ${EndIf}
    SetOutPath "$PROFILE" ; a program that is started in a folder keeps it from being removed
    CreateShortcut "$SMPROGRAMS\Tooltray.lnk" "$INSTDIR\${VERSION}\tooltray-app.exe" "" "" "" SW_SHOWNORMAL "" "${SUMMARY}"
    File "/oname=$INSTDIR\uninstall.exe" "${UNINSTALLER}"
    WriteRegStr HKCU "${KEY}" "DisplayName" "Tooltray"
    WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\${VERSION}\tooltray-app.exe"
    WriteRegStr HKCU "${KEY}" "Publisher" "The developers of Tooltray"
    WriteRegStr HKCU "${KEY}" "Comments" "${SUMMARY}"
    !ifdef SITE
        WriteRegStr HKCU "${KEY}" "URLInfoAbout" "${SITE}/"
        WriteRegStr HKCU "${KEY}" "HelpLink" "${SITE}/windows.html"
    !endif
    WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
    WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
    WriteRegDWORD HKCU "${KEY}" "NoModify" 1
    WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
    ${GetSize} "$INSTDIR\${VERSION}" "/S=0K" $0 $1 $2
    WriteRegDWORD HKCU "${KEY}" "EstimatedSize" $0
    WriteRegStr HKCU "${SCHEME}" "" "URL:Tooltray"
    WriteRegStr HKCU "${SCHEME}" "URL Protocol" ""
    WriteRegStr HKCU "${SCHEME}\shell\open\command" "" '"$INSTDIR\${VERSION}\tooltray-app.exe" "%1"'
    ; where it starts at login, the new version does from now on
    ReadRegStr $0 HKCU "${RUN}" "Tooltray"
    ${If} $0 != ""
        WriteRegStr HKCU "${RUN}" "Tooltray" '"$INSTDIR\${VERSION}\tooltray-app.exe" --background'
    ${EndIf}
    ; from here on bridges of other versions start the hub of this one
    FindFirst $1 $2 "$INSTDIR\*"
    ${DoWhile} $2 != ""
        ${If} $2 != "."
        ${AndIf} $2 != ".."
        ${AndIf} $2 != "${VERSION}"
        ${AndIf} ${FileExists} "$INSTDIR\$2\tooltray.exe"
            FileOpen $3 "$INSTDIR\$2\${SUPERSEDED}" w
            FileWrite $3 "${VERSION}"
            FileClose $3
        ${EndIf}
        FindNext $1 $2
    ${Loop}
    FindClose $1
    ; the app takes over from a hub of an older version, whose calls in flight are finished first; one of a newer version has to be stopped
    ${VersionCompare} "$Before" "${VERSION}" $3
    ${If} $WasRunning == 1
        ${If} $3 == 1
            nsExec::Exec '"$INSTDIR\${VERSION}\tooltray.exe" stop'
            Pop $0
        ${EndIf}
        Exec '"$INSTDIR\${VERSION}\tooltray-app.exe" --background'
    ${EndIf}
SectionEnd
